"""How the answer of ``opcheck fix`` is written: a module is a format."""
