"""The parts of a comment in Markdown."""
