"""A script for one finding: the call alone, without the model."""
