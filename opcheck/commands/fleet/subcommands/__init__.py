"""The commands of ``opcheck fleet``: the module and its function have the name."""
