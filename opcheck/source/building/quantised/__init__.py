"""Models whose weights a config says are packed: the layers and operators that compute with them.

One file for each method, with a ``Method``.
"""
