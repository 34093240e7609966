"""Samples of every operator, run on a device and compared with the host."""
