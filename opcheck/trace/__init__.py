"""Recording what a model asks of a device."""

from opcheck.trace.run import trace_model

__all__ = ["trace_model"]
