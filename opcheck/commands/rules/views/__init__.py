"""How the answer of ``opcheck rules`` is written: a module is a format."""
