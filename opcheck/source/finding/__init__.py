"""What of a project can be checked - found by reading its files, of which none is run."""
