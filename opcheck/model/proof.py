"""What running a changed model beside the unchanged one came to."""

from msgspec import Struct


class Compared(Struct, frozen=True):
    """Results, or gradients, of the changed model held against those of the unchanged one."""

    results: int
    """How many tensors were compared on the host, or else on the emulated device."""
    name: str = ""
    """The one that comes nearest to what is allowed, or goes furthest beyond; "" for none."""
    dtype: str = ""
    difference: float | None = 0.0
    """Its largest absolute difference; None where just one side has NaN or infinity."""
    allowed: float | None = 0.0
    """How far it may be off; None where something else is computed, and no figure is promised."""
    holds: bool = True
    """Whether all of them are as near as they are allowed to be."""


class Proof(Struct, frozen=True):
    """The changed model run on the emulated device, or scanned again."""

    how: str
    """``emulated`` or ``scanned``."""
    target: str
    holds: bool
    """Whether every overload that was replaced is gone, and the results are what they were."""
    gone: tuple[str, ...]
    """Replaced overloads that the target is not asked for any more, sorted."""
    remaining: tuple[str, ...]
    """Overloads that it is still asked for and refuses, or that still leave it, sorted."""
    newer: tuple[str, ...]
    """Overloads that it refused too, but that just the running torch asks for, sorted: the
    target's own does not."""
    runs: bool | None
    """Whether the target runs the changed model."""
    forward: Compared | None
    """Of the results; None where none were compared."""
    backward: Compared | None = None
    """Of the gradients of parameters and inputs."""
    no_backward: str = ""
    """Why no gradients were compared."""
    error: str = ""
    """What ended the run early; "" if it came to its end."""
    note: str = ""
    """What to know of the figures; "" for nothing."""
