"""The page of a fix: what was written, what it follows, and the proof."""
