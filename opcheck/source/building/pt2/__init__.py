"""Exported programs made runnable, by an interpreter over allowed operators."""
