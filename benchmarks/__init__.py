"""The figures that opcheck promises, each measured as a ratio within one run."""
