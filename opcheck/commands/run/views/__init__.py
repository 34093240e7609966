"""How the answer of ``opcheck run`` is written: a module is a format."""
