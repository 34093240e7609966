"""How calls are recorded: their signature, where they came from, and what they become."""
