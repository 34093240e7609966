"""What the process that runs the user's model is asked, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from opcheck.model.trace import Trace

MEMORY_HINT = "raise --memory, or do not load weights: they are not needed"
"""What either process says when memory ran out."""


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """One model to load and trace."""

    source: str
    """A file, a directory or a name, as the user wrote it."""
    device_type: str
    """What tensors say they are on: ``npu``, …"""
    inputs: tuple[str, ...] = ()
    """``--input``, as the user wrote them."""
    trust: bool = False
    """Whether pickled code in the source may run."""
    exact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """``str(Target)`` -> overloads that it registers, for the targets wanted exactly."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """dtype that a cast on the device asks for -> the dtype that it gives instead."""


@dataclass(frozen=True, slots=True)
class WorkResult:
    """A model loaded and traced."""

    trace: Trace
    kind: str
    """The source kind that loaded it."""
    digest: str
    """Of the file or config; empty where there is none."""
    notes: tuple[str, ...] = ()
    """What was chosen for the user while loading."""
