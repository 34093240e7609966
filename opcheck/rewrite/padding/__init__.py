"""Wrappers that pad inputs of any size to few sizes, and cut what the model gives back."""
