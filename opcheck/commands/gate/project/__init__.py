"""A whole project at the gate: every source judged by one policy."""
