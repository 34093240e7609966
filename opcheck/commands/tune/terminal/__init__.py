"""The page on what a model costs on a chip, and what would make it cost less."""
