"""Readers of lists of whole models that run, a list a module; they write ``compat_db/models``."""
