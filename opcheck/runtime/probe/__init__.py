"""Samples of every operator, run on a device and held against the host."""
