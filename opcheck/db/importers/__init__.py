"""Readers of vendors' own files, one vendor a module; they write what ``opcheck.db`` reads."""
