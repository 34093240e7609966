"""How the answer of ``opcheck gate`` is written: a module is a format."""
