"""Targets ranked for a model, each with the reason for its place."""
