"""What the calls of a run cost, and which of its tensors live at once."""
