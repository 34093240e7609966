"""What the answer of a gate on a project can be written as."""
