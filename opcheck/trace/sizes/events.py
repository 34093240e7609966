"""Decisions that a model's Python takes by sizes, and where two runs with other sizes part.

Sizes that tell when a model's Python decides by them. Inside :func:`watched` the sizes that a model
reads of its tensors are whole numbers that take note of each comparison, with the line that made
it. Arithmetic gives such numbers again; what becomes a ``float``, or goes through ``len``, is a
plain number from there on.
"""

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.model.dynamic import READ_BY_PYTHON
from opcheck.model.trace import TensorMeta, Value
from opcheck.trace.calls.call_site import Site, is_internal, shown
from opcheck.trace.device.tensors import DeviceTensor


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


_AHEAD = 120
"""How many events two runs may be apart before they come together again."""
_FEW = 4
"""How many items of a list are told."""
_ALIKE = 3
"""How many events in a row have to be the same then."""


class Called(Struct, frozen=True):
    """One call of an overload."""

    site: Site
    op: str
    module: str
    arguments: tuple[tuple[str, Value], ...]


class Event(Struct, frozen=True):
    """A call or a decision, in the order of the run."""

    what: Called | Decision
    module: str

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same of it in every run that goes this way."""
        what = self.what
        if isinstance(what, Called):
            return what.site, what.op, what.module
        return what.site, what.symbol, self.module, what.outcome


def pairs(one: Sequence[Event], other: Sequence[Event]) -> Iterator[tuple[Event, Event]]:
    """Events that are the same in both runs, in order."""
    yield from ((one[i], other[j]) for i, j, same in _walk(one, other) if same)


def partings(
    one: Sequence[Event], other: Sequence[Event]
) -> Iterator[tuple[Event | None, Event | None]]:
    """The first events after which two runs go different ways; None: that run has ended.

    Not those where Python has just read a value, which is what decided.
    """
    for i, j, same in _walk(one, other):
        if not (same or (i and _reads(one[i - 1]))):
            yield one[i] if i < len(one) else None, other[j] if j < len(other) else None


def _reads(event: Event) -> bool:
    return isinstance(event.what, Called) and event.what.op in READ_BY_PYTHON


def _walk(one: Sequence[Event], other: Sequence[Event]) -> Iterator[tuple[int, int, bool]]:
    first, second = [event.key for event in one], [event.key for event in other]
    i = j = 0
    while i < len(first) or j < len(second):
        same = i < len(first) and j < len(second) and first[i] == second[j]
        yield i, j, same
        if same:
            i, j = i + 1, j + 1
        else:
            i, j = _together(first, i, second, j)


def _together(first: Sequence[object], i: int, second: Sequence[object], j: int) -> tuple[int, int]:
    """The nearest places from which both go on alike; their ends where there are none."""
    for apart in range(1, _AHEAD):
        for skipped in range(apart + 1):
            k, m = i + skipped, j + apart - skipped
            ahead = first[k : k + _ALIKE]
            if ahead and ahead == second[m : m + _ALIKE]:
                return k, m
    return len(first), len(second)


def difference(one: Called, other: Called) -> str:
    """What two calls are given of other sizes or values, as a clause; "": nothing."""
    for (name, left), (_, right) in zip(one.arguments, other.arguments, strict=False):
        told = _text(left), _text(right)
        if told[0] != told[1]:
            return f"{name} {told[0]} becomes {told[1]}"
    return ""


def varying(one: Called, other: Called) -> tuple[str, ...]:
    """The arguments of two calls that differ; ``dim`` too where sizes along the one it names do."""
    names = {
        name
        for (name, left), (_, right) in zip(one.arguments, other.arguments, strict=False)
        if _text(left) != _text(right)
    }
    dim = dict(one.arguments).get("dim", 0)
    if isinstance(dim, int) and _along(one, dim) != _along(other, dim):
        names.add("dim")
    return tuple(sorted(names))


def _along(call: Called, dim: int) -> tuple[int, ...]:
    """The size of each tensor of a call along one dimension, where it has that."""
    tensors = (value for _, value in call.arguments if isinstance(value, TensorMeta))
    return tuple(t.shape[dim] for t in tensors if -len(t.shape) <= dim < len(t.shape))


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        few = ", ".join(map(_text, value[:_FEW]))
        return f"[{few}]" if len(value) <= _FEW else f"[{few}, … {len(value)} of them]"
    return str(value)
