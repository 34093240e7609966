"""The version of opcheck, the only place that says it."""

__version__ = "0.2.0"
