"""Every tensor in an input, whatever holds it - what ``.to(device)`` of a training script reaches.

torch's pytree knows lists, tuples, dictionaries and what libraries register with it. Models take
more: dataclasses, dictionaries of a class of their own, batches of graphs, packed sequences.
"""

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_map

_DEPTH = 8
"""Of objects within objects, after which none is looked into."""
_WHOLE = (
    bool, int, float, complex, str, bytes, Enum, type, FunctionType, MethodType, ModuleType,
    torch.device, torch.dtype, torch.Generator, nn.Module,
)  # fmt: skip
"""What holds no tensor that is an input."""


def with_tensors(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """Give ``value`` with ``change`` applied to its tensors; what holds one that changes is copied.

    One object that is met twice is one object in the result, too.
    """
    return _within(change, value, {}, _DEPTH)


def _within(
    change: Callable[[Tensor], Tensor], value: Any, made: dict[int, Any], depth: int
) -> Any:
    def leaf(item: Any) -> Any:
        if isinstance(item, Tensor):
            return change(item)
        if item is None or isinstance(item, _WHOLE) or not depth:
            return item
        if id(item) not in made:
            made[id(item)] = item  # where it holds itself
            made[id(item)] = _copied(item, lambda inner: _within(change, inner, made, depth - 1))
        return made[id(item)]

    return tree_map(leaf, value, is_leaf=_is_packed)


def _is_packed(value: Any) -> bool:
    return isinstance(value, PackedSequence)


def _copied(holder: Any, inner: Callable[[Any], Any]) -> Any:
    """An object as it is with what it holds after ``inner``; itself where that changes nothing."""
    if isinstance(holder, PackedSequence):  # whose batch sizes are the host's on every device
        data, indices, inverse = map(inner, (holder.data, holder[2], holder[3]))
        return type(holder)(data, holder.batch_sizes, indices, inverse)
    items = _changed(dict(holder), inner) if isinstance(holder, dict) else {}
    places = _changed(dict(enumerate(holder)), inner) if isinstance(holder, list) else {}
    attributes = _changed(_attributes(holder), inner)
    if not (items or places or attributes):
        return holder
    made = copy.copy(holder)
    for key, item in items.items():
        dict.__setitem__(made, key, item)
    for index, item in places.items():
        list.__setitem__(made, index, item)
    for name, item in attributes.items():
        object.__setattr__(made, name, item)  # a frozen dataclass lets nothing else
    return made


def _changed(held: dict[Any, Any], inner: Callable[[Any], Any]) -> dict[Any, Any]:
    found = {key: (item, inner(item)) for key, item in held.items()}
    return {key: new for key, (old, new) in found.items() if not _same(old, new)}


def _same(old: Any, new: Any) -> bool:
    """Whether nothing was changed: torch's pytree makes its containers anew."""
    if type(old) in (list, tuple):
        return len(old) == len(new) and all(map(_same, old, new))
    if type(old) is dict:
        return all(_same(item, new[key]) for key, item in old.items())
    return old is new


def _attributes(holder: Any) -> dict[str, Any]:
    found = dict(getattr(holder, "__dict__", {}))
    if is_dataclass(holder):  # which may have slots
        names = (field.name for field in fields(holder))
        found |= {name: getattr(holder, name) for name in names if hasattr(holder, name)}
    return found
