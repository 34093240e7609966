"""The database's files on disk - read within bounds, cached, written, and in which folders."""
