"""A whole project: its sources, listed or found, each checked against the same targets."""
