"""How a model is run for a trace - forward, training step, among processes."""
