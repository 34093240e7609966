"""Advice, one kind a file."""
