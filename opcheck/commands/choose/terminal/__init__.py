"""The page about targets ranked for a model."""
