"""A gate's answer, for people at a terminal."""
