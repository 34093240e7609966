"""The commands of ``opcheck db``: the module and its function have the name."""
