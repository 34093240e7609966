"""One command a file: the module and its function have the command's name."""
