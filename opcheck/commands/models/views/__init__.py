"""How the answer of ``opcheck models`` is written: a module is a format."""
