"""How the answer of ``opcheck emulate`` is written: a module is a format."""
