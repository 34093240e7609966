"""What the importers of several vendors share - lists, facts, kernels elsewhere."""
