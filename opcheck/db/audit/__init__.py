"""A check of the whole database, ``opcheck db check``."""
