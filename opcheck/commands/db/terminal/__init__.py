"""The database itself: how old it is, what it holds, what changed, what is wrong."""
