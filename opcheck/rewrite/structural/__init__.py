"""Other ways to write a line of the user's where a size, or a path, depends on values."""
