"""The formats that reports are written in: a module is a format."""
