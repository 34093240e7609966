"""What is said of a fleet as a whole, for people at a terminal."""
