"""The side that asks: starts the process that runs a model, reads its messages, ends it."""
