"""``opcheck run``."""
