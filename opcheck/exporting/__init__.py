"""Models really exported, by the library that a target's converter is, and run by its runtime."""
