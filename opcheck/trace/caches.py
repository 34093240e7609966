"""What former runs left in caches and tables: taken out, so that the next run makes it anew."""

import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor

from opcheck.python_state import namespaces, tables, variables
from opcheck.trace.device import DeviceTensor

T = TypeVar("T")
Later = Callable[[], T]
"""Gives what came of a work, once it is done."""

_CACHE: Any = functools._lru_cache_wrapper
_place: Any = Tensor.device.__get__
"""What C++ knows, where Python is told of another device."""
_DEPTH = 5
"""From a cache through its table and its links to a tensor in a tuple or a list."""


def forget() -> None:
    """Take what was recorded out of function caches and of the tables of modules and classes.

    Whatever holds none of it is left alone, as tensors are that the user has on an emulated device.
    Code that keeps something else, as that a table is filled, is not found: only a fresh copy of
    the process does without it.
    """
    ours = torch._C._get_privateuse1_backend_name()
    with _nothing_frozen():
        found = [item for item in gc.get_objects() if type(item) is _CACHE]
    for cache in found:
        if cache.cache_info().currsize and _holds(cache, ours, _DEPTH):
            cache.cache_clear()
    for namespace in namespaces():
        for name, value in variables(namespace):
            if isinstance(value, DeviceTensor):
                setattr(namespace, name, None)  # as it is written where it is filled on first use
            for table in tables(value):
                _take_out(table)


def here(works: Sequence[Callable[[], T]]) -> Sequence[Later[T]]:
    """Do each work in this process when it is asked for, with nothing left of former runs."""

    def later(work: Callable[[], T]) -> T:
        forget()
        return work()

    return [functools.partial(later, work) for work in works]


@contextmanager
def _nothing_frozen() -> Iterator[None]:
    """Have the collector tell of all objects inside the block."""
    frozen = gc.get_freeze_count()
    if frozen:
        gc.unfreeze()
    try:
        yield
    finally:
        if frozen:
            gc.freeze()


def _take_out(table: Any) -> None:
    """Take out the entries with a tensor of a recording."""

    def holds(item: Any) -> bool:
        inner = isinstance(item, (tuple, frozenset))
        return isinstance(item, DeviceTensor) or (inner and any(map(holds, item)))

    if isinstance(table, dict):
        for key in [key for key, item in table.items() if holds(key) or holds(item)]:
            del table[key]
    else:
        kept = [item for item in table if not holds(item)]
        if len(kept) != len(table):
            table.clear()
            (table.update if isinstance(table, set) else table.extend)(kept)


def _holds(container: Any, device_type: str, depth: int) -> bool:
    for item in gc.get_referents(container):
        if isinstance(item, Tensor) and _place(item).type == device_type:
            return True
        inner = isinstance(item, (tuple, list, dict)) or type(item).__name__ == "_lru_list_elem"
        if inner and depth and _holds(item, device_type, depth - 1):
            return True
    return False
