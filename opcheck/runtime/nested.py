"""Nested values: tensors in tuples, lists, dicts and dataclasses, changed without changing them."""

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
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
