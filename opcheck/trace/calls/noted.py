"""Where a run is at the tracer's own work, for whoever notes what code runs."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct


class Noted(Struct, frozen=True):
    """What is entered as a run changes between the tracer's work and the code of others."""

    ours: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around what the tracer does, and what it runs to learn what a call returns."""
    theirs: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around what is called of others within it: composites, and kernels on values."""
