"""Advice: a file for each kind of thing that it is about."""
