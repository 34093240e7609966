"""The user's model, loaded and run in a process of its own: ``run`` has what to call."""
