"""The page of what sources say that no dispatcher sees."""
