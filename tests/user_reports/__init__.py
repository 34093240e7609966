"""What users met, written down from threads before any scan of it."""
