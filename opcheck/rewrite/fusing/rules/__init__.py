"""Fusions: a file for each idea that a vendor has a kernel for."""
