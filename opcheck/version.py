"""The version of opcheck, the only place that says it."""

__version__ = "0.1.0"
