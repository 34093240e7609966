"""The traps: a file for each kind of thing that they are about."""
