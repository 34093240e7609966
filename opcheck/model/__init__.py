"""Frozen values that pass between rooms; standard library only."""
