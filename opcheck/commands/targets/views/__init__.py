"""How the answer of ``opcheck targets`` is written: a module is a format."""
