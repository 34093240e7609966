"""What a store says of a run as a whole: how many run, what is missing most, what changed."""
