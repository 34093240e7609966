"""Scan many models: which run, what blocks others, what changed."""

PURPOSE = "compare"
