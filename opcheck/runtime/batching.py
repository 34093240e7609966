"""Calls of one model batched by shape, and the nested values that calls take and give."""

import copy
import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn


def mapped(value: Any, function: Callable[[Tensor], Any]) -> Any:
    """The same structure with every tensor replaced; what was given stays as it is."""
    if isinstance(value, Tensor):
        return function(value)
    return _each(value, lambda item: mapped(item, function))


def tensors(value: Any) -> Iterator[Tensor]:
    """Every tensor, in the order in which :func:`mapped` comes to it."""
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    mapped(value, note)
    return iter(found)


def placed(value: Any, device: torch.device) -> Any:
    """The same with every tensor on ``device``, and what else knows how to move moved."""

    def whole(item: Any) -> Any:
        if isinstance(item, Tensor) or _moves(item):
            return item.to(device)
        return _each(item, whole)

    return whole(value)


def _each(value: Any, function: Callable[[Any], Any]) -> Any:
    """One level deep: the same container with each of its items given to ``function``."""
    if isinstance(value, tuple):
        items = [function(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, list):
        return [function(item) for item in value]
    if isinstance(value, dict):
        return _with_items(value, {key: function(item) for key, item in value.items()})
    return _with_fields(value, function) if _is_record(value) else value


def _moves(value: Any) -> bool:
    """Whether it is a container of others that moves itself: a packed sequence, a token batch."""
    return not isinstance(value, (Tensor, nn.Module, type)) and callable(getattr(value, "to", None))


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _with_items(value: dict[Any, Any], items: dict[Any, Any]) -> Any:
    if type(value) is dict:
        return items
    made = copy.copy(value)  # a dict of some library's: its own keys stand for more
    for key, item in items.items():
        made[key] = item
    return made


def _with_fields(value: Any, function: Callable[[Any], Any]) -> Any:
    made = copy.copy(value)
    for field in dataclasses.fields(value):
        if hasattr(value, field.name):
            # a frozen one has no other way, and a copy is nobody's yet
            object.__setattr__(made, field.name, function(getattr(value, field.name)))
    return made


class Call(Struct, frozen=True):
    """The inputs of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @classmethod
    def of(cls, given: Any) -> "Call":
        """Read a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict)."""
        match given:
            case (tuple() as args, dict() as kwargs) if all(isinstance(k, str) for k in kwargs):
                return cls(args, kwargs)
            case tuple() if not hasattr(given, "_fields"):
                return cls(given, {})
            case dict() if given and all(isinstance(key, str) for key in given):
                return cls((), given)
            case _:
                return cls((given,), {})

    @property
    def whole(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All of it as one nested value."""
        return self.args, dict(self.kwargs)

    @property
    def rows(self) -> int:
        """How many examples are in it; 0 where its tensors do not all begin with as many."""
        sizes = {tensor.shape[0] if tensor.dim() else 0 for tensor in tensors(self.whole)}
        return sizes.pop() if len(sizes) == 1 else 0


class NotByRowsError(Exception):
    """What a model gives has not as many rows as what it was given."""


def groups(calls: Sequence[Call], most: int) -> list[list[int]]:
    """Which calls go together: of the same structure and shapes, no more than ``most`` rows.

    Each group has the positions of its calls, in order; a call that nothing can be joined to is a
    group by itself, whatever its size.
    """
    by_kind: dict[Hashable, list[int]] = {}
    for position, call in enumerate(calls):
        kind = _kind(call.whole) if call.rows else position
        by_kind.setdefault((call.rows > 0, kind), []).append(position)
    found: list[list[int]] = []
    for positions in by_kind.values():
        room = 0
        for position in positions:
            rows = calls[position].rows
            if not rows or rows > room:
                found.append([])
                room = most
            found[-1].append(position)
            room -= rows
    return found


def joined(calls: Sequence[Call]) -> Call:
    """One call with the rows of all of them, one after the other."""
    parts = zip(*(tensors(call.whole) for call in calls), strict=True)
    together = iter([torch.cat(part) for part in parts])
    args, kwargs = mapped(calls[0].whole, lambda _: next(together))
    return Call(args, kwargs)


def parted(result: Any, rows: Sequence[int]) -> list[Any]:
    """What a model gave for joined calls, as it would have given it for each of them.

    Raises:
        NotByRowsError: a tensor in it has another number of rows, so that nobody knows whose it is.
    """
    for tensor in tensors(result):
        if not tensor.dim() or tensor.shape[0] != sum(rows):
            raise NotByRowsError
    parts, start = [], 0
    for count in rows:
        parts.append(mapped(result, _rows(start, start + count)))
        start += count
    return parts


def _rows(start: int, stop: int) -> Callable[[Tensor], Tensor]:
    return lambda tensor: tensor[start:stop]


def _kind(value: Any) -> Hashable:
    """Equal for values whose tensors may be joined, and which are otherwise the same."""
    found: list[Hashable] = []
    skeleton = mapped(value, lambda tensor: _Place(found, tensor))
    return _hashable(skeleton), tuple(found)


class _Place:
    """Where a tensor stands; equal to every other such place."""

    def __init__(self, found: list[Hashable], tensor: Tensor) -> None:
        strided = tensor.layout is torch.strided
        found.append(
            (tensor.dtype, tensor.device, tuple(tensor.shape[1:]) if strided else id(self))
        )


def _hashable(value: Any) -> Hashable:
    """A nested value as one that compares by its contents; an object of another kind by itself."""
    if isinstance(value, _Place):
        return _Place
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_hashable, value))
    if isinstance(value, dict):
        return type(value), tuple((key, _hashable(item)) for key, item in value.items())
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        names = [name for name in value.__dataclass_fields__ if hasattr(value, name)]
        return type(value), tuple((name, _hashable(getattr(value, name))) for name in names)
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None), torch.dtype)):
        return type(value), repr(value)
    return id(value)
