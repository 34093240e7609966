"""How a model is scanned, as functions take it that scan one for another purpose."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict


class ScanOptions(TypedDict, total=False):
    """Further arguments of :func:`opcheck.scan`, by their names."""

    exact: bool
    """Record the exact kernels asked of every target, not only of a single one."""
    train: bool
    """Record a training step instead of a forward."""
    step: Sequence[str]
    """What the step does, as ``--step`` takes it; implies ``train``."""
    loss: Callable[[Any], Any] | None
    """Makes the loss of a module's output."""
    input_sets: str
    """``"FILE.py:NAME"`` of a function that gives several sets of inputs."""
    decode: bool
    """Call a generating model on one token more."""
    dynamic: Sequence[str]
    """Dimensions of inputs whose size is not always the same: ``["ids:1"]``."""
    plan: bool
    """Look for a suggestion for each finding too."""
