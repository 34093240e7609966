"""Many models at once: which run, what keeps the others off, what changed."""
