"""Ends a traceback at the user's own line, where the device would have raised."""

from types import TracebackType

_KERNELS = frozenset(
    {
        "opcheck.trace.torch_internals.autocast",
        "opcheck.emulate.registration",
        "opcheck.trace.torch_internals.overrides",
    }
)
"""Modules whose functions C++ calls as the kernels of the device."""


def end_at_device(trace: TracebackType | None) -> None:
    """Cut off, in place, what runs inside a kernel of the emulated device."""
    while trace is not None:
        below = trace.tb_next
        if below is not None and below.tb_frame.f_globals.get("__name__") in _KERNELS:
            trace.tb_next = below = None
        trace = below
