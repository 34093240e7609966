"""How the answer of ``opcheck tune`` is written: a module is a format."""
