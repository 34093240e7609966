"""The page of a plan: the way out of each finding, and what following them comes to."""
