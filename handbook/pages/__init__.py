"""The pages of the reference, one a file."""
