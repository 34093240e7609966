"""The traps, one a file."""
