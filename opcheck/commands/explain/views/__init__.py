"""How the answer of ``opcheck explain`` is written: a module is a format."""
