"""Sizes that tell when a model's Python decides by them.

Inside :func:`watched` the sizes that a model reads of its tensors are whole numbers that take note
of each comparison, with the line that made it. Arithmetic gives such numbers again; what becomes a
``float``, or goes through ``len``, is a plain number from there on.
"""

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.trace.device import DeviceTensor
from opcheck.trace.place import Site, is_internal, shown


class Decision(Struct, frozen=True):
    """One comparison of a size."""

    site: Site
    symbol: str
    """``>``, ``==``, …"""
    left: int | float
    right: int | float
    outcome: bool

    def __str__(self) -> str:
        return f"{self.left} {self.symbol} {self.right}"


Heard = Callable[[Decision], None]


class WatchedSize(int):
    """A size as a model reads it."""

    heard: ClassVar[Heard | None] = None

    __hash__ = int.__hash__

    def __bool__(self) -> bool:
        return bool(_decided("!=", int(self), 0, int.__bool__(self)))


def _decided(symbol: str, left: int, right: Any, outcome: Any) -> Any:
    """Take note of a comparison two frames up, if a model made it; give its outcome."""
    heard = WatchedSize.heard
    number = isinstance(right, int | float) and isinstance(outcome, bool)
    if heard is not None and number:
        frame = sys._getframe(2)
        if not is_internal(frame.f_code):
            site = shown(frame.f_code.co_filename), frame.f_lineno
            right = int(right) if isinstance(right, int) else right
            heard(Decision(site, symbol, int(left), right, outcome))
    return outcome


_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC = (
    *("add", "sub", "mul", "floordiv", "mod", "radd", "rsub", "rmul", "rfloordiv", "rmod"),
    *("neg", "pos", "abs"),
)


def _comparison(name: str, symbol: str) -> Callable[[WatchedSize, Any], Any]:
    compare = getattr(int, name)

    def method(self: WatchedSize, other: Any) -> Any:
        outcome = compare(self, other)
        if outcome is NotImplemented and isinstance(other, float):
            outcome = getattr(operator, name.strip("_"))(int(self), other)
        return _decided(symbol, self, other, outcome)

    return method


def _computed(name: str) -> Callable[..., Any]:
    compute = getattr(int, name)

    def method(self: WatchedSize, *others: Any) -> Any:
        result = compute(self, *others)
        return WatchedSize(result) if type(result) is int else result

    return method


for _name, _symbol in _COMPARISONS.items():
    setattr(WatchedSize, f"__{_name}__", _comparison(f"__{_name}__", _symbol))
for _name in _ARITHMETIC:
    setattr(WatchedSize, f"__{_name}__", _computed(f"__{_name}__"))


def _shape(tensor: Tensor) -> torch.Size:
    real = Tensor.shape.__get__(tensor)  # type: ignore[attr-defined]  # a descriptor of C's
    return real if is_internal(sys._getframe(1).f_code) else torch.Size(map(WatchedSize, real))


def _size(tensor: Tensor, dim: int | None = None) -> Any:
    real = Tensor.size(tensor)
    if not is_internal(sys._getframe(1).f_code):
        real = torch.Size(map(WatchedSize, real))
    if dim is None:
        return real
    return real[dim] if isinstance(dim, int) and -len(real) <= dim < len(real) else (
        Tensor.size(tensor, dim)
    )  # fmt: skip


@contextmanager
def watched(heard: Heard) -> Iterator[None]:
    """Have ``heard`` told of every comparison of a size that is read inside the block."""
    WatchedSize.heard = heard
    DeviceTensor.shape = property(_shape)  # type: ignore[assignment]  # for the block alone
    DeviceTensor.size = _size  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        del DeviceTensor.shape, DeviceTensor.size
        WatchedSize.heard = None
