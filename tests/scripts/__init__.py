"""Training scripts in the style of public projects, run as they stand."""
