"""Sizes that vary, padded to few: which buckets, what is padded with what, and how it is proved."""

import re
from collections.abc import Sequence

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput

_SIZE = re.compile(r"[1-9][0-9]{0,8}")


class BucketSizes(Struct, frozen=True):
    """The sizes that a dimension is padded to."""

    axis: str
    """``ids:1``; "": every dimension that varies."""
    sizes: tuple[int, ...]
    """Ascending, each once."""

    @classmethod
    def parse(cls, text: str) -> "BucketSizes":
        """Read ``[NAME:DIM=]SIZE,SIZE``.

        Raises:
            UsageError: it is not of that form.
        """
        axis, sep, rest = text.rpartition("=")
        sizes = rest.split(",")
        if (sep and not axis) or not all(map(_SIZE.fullmatch, sizes)):
            raise UsageError(
                Sentence("--buckets {text}: not a list of sizes", text=repr(text)),
                Sentence('write sizes as in --buckets 64,128, or "x:2=64,128" for one dimension'),
            )
        if axis and len(DynamicInput.parse(axis).dims) != 1:
            raise UsageError(
                Sentence("--buckets {text}: want one dimension", text=repr(text)),
                Sentence('write sizes as in --buckets 64,128, or "x:2=64,128" for one dimension'),
            )
        return cls(axis, tuple(sorted(set(map(int, sizes)))))


def bucket_sizes(texts: Sequence[str]) -> tuple[BucketSizes, ...]:
    """Every ``--buckets`` of a command, in the order given."""
    return tuple(map(BucketSizes.parse, texts))


class PadSpec(Struct, frozen=True):
    """What is to be padded."""

    dynamic: tuple[DynamicInput, ...]
    buckets: tuple[BucketSizes, ...]
    target: str
    """As the module that is written names it."""
    by_data: tuple[str, ...] = ()
    """Overloads that the model calls, whose results have a size that depends on values."""


class PaddedAxis(Struct, frozen=True):
    """A size that varies, of one or several inputs."""

    name: str
    """``ids:1``, the first of ``members``."""
    members: tuple[str, ...]
    """Dimensions that have this size."""
    buckets: tuple[int, ...]
    """Ascending; the last is the largest size that the wrapper takes."""
    smallest: int
    """The smallest size that was tried and that the model itself takes."""

    @property
    def sizes(self) -> int:
        """How many sizes there are, of which each is a shape of its own."""
        return self.buckets[-1] - self.smallest + 1


class PaddedInput(Struct, frozen=True):
    """What one dimension of an input is padded with."""

    name: str
    """``ids:1``."""
    value: str
    """A number as Python writes it; "": its own first element again."""
    made: bool = False
    """Whether the wrapper makes the input, of ones."""


class CutResult(Struct, frozen=True):
    """A dimension of a result that is cut back."""

    name: str
    """``output.logits``."""
    dim: int
    axis: str
    """The name of the axis that it follows."""
    size: str
    """An expression of the names of axes: ``ids:1 // 2``."""


class PadCheck(Struct, frozen=True):
    """The wrapped model compared with the model itself, at one choice of sizes."""

    sizes: str
    """``ids:1 = 5``."""
    bucket: str
    """``ids:1 = 8``."""
    result: str
    """The one that is furthest off of what is allowed."""
    difference: float | None
    """Its largest absolute difference; None: its shape differs, or one side has NaN."""
    allowed: float
    error: str = ""
    """Why the wrapped model fails there; "": it runs."""

    @property
    def holds(self) -> bool:
        """Whether it is as near as it may be."""
        return self.excess <= 1.0

    @property
    def excess(self) -> float:
        """The difference in units of what is allowed."""
        if self.error or self.difference is None:
            return float("inf")
        if not self.difference:
            return 0.0
        return self.difference / self.allowed if self.allowed else float("inf")


class FixedCode(Struct, frozen=True):
    """A call whose result has a size that depends on values, written with a fixed size."""

    ops: tuple[str, ...]
    code: str
    """Of ``x``, ``mask``, ... and ``size``, the largest number of rows."""
    needs: str
    """The overload that not every target has."""
    draws: int
    """Inputs that it was tried on."""
    right: int
    """Those on which it gives what the call gives."""


class StaticCache(Struct, frozen=True):
    """The switch of a library for a cache of keys and values whose size is fixed."""

    library: str
    """With its version."""
    taken: bool
    """Whether the model's class says that it is made for that."""
    file: str
    """Of the library, where the class or what it inherits says so."""
    line: int


class PadRun(Struct, frozen=True):
    """A wrapper that pads, and what came of trying it."""

    axes: tuple[PaddedAxis, ...] = ()
    inputs: tuple[PaddedInput, ...] = ()
    cuts: tuple[CutResult, ...] = ()
    checks: tuple[PadCheck, ...] = ()
    """One for each choice of sizes that is in a bucket and is not its size."""
    results: int = 0
    draws: int = 0
    """How many sets of values at each choice of sizes."""
    dtype: str = ""
    """What floating-point numbers were computed in."""
    reason: str = ""
    """Why there is no wrapper to try; "": there is one."""
    notes: tuple[str, ...] = ()
    text: str = ""
    """The module."""
    codes: tuple[FixedCode, ...] = ()
    """What the calls could be written as whose results have a size that depends on values."""
    cache: StaticCache | None = None
    """None where the model is none that generates with a cache."""

    @property
    def holds(self) -> bool:
        """Whether there is a wrapper, and everything that was tried is as near as it may be."""
        return not self.reason and bool(self.checks) and all(one.holds for one in self.checks)

    @property
    def worst(self) -> PadCheck | None:
        """The check that comes nearest to what is allowed, or goes furthest beyond."""
        return max(self.checks, key=lambda check: check.excess, default=None)
