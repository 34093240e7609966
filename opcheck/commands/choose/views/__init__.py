"""How the answer of ``opcheck choose`` is written: a module is a format."""
