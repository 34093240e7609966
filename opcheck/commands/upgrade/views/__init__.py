"""How the answer of ``opcheck upgrade`` is written: a module is a format."""
