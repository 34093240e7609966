"""A model file or name becomes something traceable and its example inputs; one kind a file."""
