"""Calls fused into kernels of vendors."""
