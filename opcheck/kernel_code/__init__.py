"""Kernels that a model brings itself, read from their source and never run."""
