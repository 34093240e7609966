"""Advice on environments, from what vendors say and from what is installed."""
