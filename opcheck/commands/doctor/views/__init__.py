"""How the answer of ``opcheck doctor`` is written: a module is a format."""
