"""What a project asks of the gate, read from its ``opcheck.yaml`` or ``pyproject.toml``."""
