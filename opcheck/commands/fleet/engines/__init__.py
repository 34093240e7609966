"""What works the jobs of a run off: one engine a file."""
