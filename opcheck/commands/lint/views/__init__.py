"""How the answer of ``opcheck lint`` is written: a module is a format."""
