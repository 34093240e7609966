"""The page about an environment."""
