"""Where the sizes that the user marked as dynamic change what the model calls."""
