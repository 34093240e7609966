"""One command a folder: its help, options, answer and views."""
