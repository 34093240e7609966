"""What would unblock a model, for people at a terminal."""
