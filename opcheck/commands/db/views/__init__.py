"""How the answer of ``opcheck db`` is written: a module is a format."""
