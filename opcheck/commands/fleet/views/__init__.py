"""How the answer of ``opcheck fleet`` is written: a module is a format."""
