"""How the answer of ``opcheck probe`` is written: a module is a format."""
