"""The process that runs the user's model, and its copies: ``python -m opcheck.sandbox.child``."""
