"""Formats of the answer, one a file: values in, text out; no I/O, no environment."""
