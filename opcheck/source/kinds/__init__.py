"""The kinds of model sources, one a file, found by its class."""
