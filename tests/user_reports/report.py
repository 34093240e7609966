"""A report: what users of a device met, as a small program, written down before it was scanned.

Threads are taken in the order in which a search gives them, without a choice by taste: each thread
that one of ``QUERIES`` gives and that no case or control has is listed, as a :class:`Report` or,
where it cannot be one, as a :class:`LeftOut` with the reason. What users met was committed before
the first scan; what that scan said is in ``answers.py`` and never changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from torch import Tensor


class Met(StrEnum):
    """What became of the call."""

    REFUSED = "refused"
    """It raised, at once or in the device's kernel, or the process died."""
    ON_THE_HOST = "on the host"
    """It ran on the host CPU."""
    WRONG = "wrong"
    """It ran, and its values, shape or dtype were wrong, or it spoiled memory."""
    SLOW = "slow"
    """It ran on the device, far slower or less precisely, by the vendor's word."""
    WORKS = "works"
    """It ran; reports of this kind say that a later release mended something."""


class Because(StrEnum):
    """What it depended on."""

    NO_KERNEL = "the operator"
    DTYPE = "a dtype"
    SHAPE = "a shape: rank, size or number of elements"
    VALUE = "an argument that is no tensor"
    LAYOUT = "strides, a view, memory format or an offset"
    CHIP = "the chip"
    OTHER = "something else of the call"


class Why(StrEnum):
    """Why a thread is no report."""

    NO_CALL = "no call of an operator: installation, drivers, memory, networks, speed, a question"
    NO_PROGRAM = "it does not say which call, with which dtypes or shapes"
    NO_TARGET = "of no vendor, chip or release that targets have"
    OTHERS = "of operators that only a library of the vendor's or a custom kernel has"
    KNOWN = "already a case, a control or an earlier report"
    UNCONFIRMED = "nobody saw it again, or it was the user's own mistake"


@dataclass(frozen=True)
class LeftOut:
    """A thread that a search gave and that is no report."""

    thread: str
    """``owner/project#12``."""
    why: Why


@dataclass(frozen=True)
class Report:
    """What users met, and a program that meets it."""

    name: str
    """A few words; unique among all reports."""
    thread: str
    """``owner/project#12``."""
    query: int
    """Which of the vendor's queries gave it."""
    told: str
    """What users met, in one sentence."""
    target: str
    """Chip and release that the thread names, or the nearest ones that ``opcheck targets`` has."""
    met: Met
    because: Because
    program: Callable[..., Any]
    """What is called with ``inputs``; a module or a function of tensors, on no device."""
    inputs: tuple[Tensor, ...] = ()
    ops: tuple[str, ...] = ()
    """Overloads or operators (``aten::roll``) any of which the report may be about, as users or the
    source's error name it; what a scan says of others does not count."""
    training: bool = False
    """Whether it is met in the backward pass."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the thread says were set, or that its warning is printed with alone."""
    mended: Mapping[str, Met] = field(default_factory=dict)
    """Another target -> what the thread says of it there: a release that mends it."""
