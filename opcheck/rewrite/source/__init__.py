"""Calls in a user's Python source replaced by calls of functions that are put into it."""
