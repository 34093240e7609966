"""A gate's answer in formats for other programs, and as a comment."""
