"""Function caches that kept tensors of a run: emptied, so that the next run computes them anew."""

import functools
import gc
from typing import Any

import torch
from torch import Tensor

_CACHE: Any = functools._lru_cache_wrapper
_place: Any = Tensor.device.__get__
"""What C++ knows, where Python is told of another device."""
_DEPTH = 5
"""From a cache through its table and its links to a tensor in a tuple or a list."""


def forget() -> None:
    """Empty every ``functools.lru_cache`` that holds a tensor of ours; leave all others alone."""
    ours = torch._C._get_privateuse1_backend_name()
    for found in gc.get_objects():
        if type(found) is _CACHE and found.cache_info().currsize and _holds(found, ours, _DEPTH):
            found.cache_clear()


def _holds(container: Any, device_type: str, depth: int) -> bool:
    for item in gc.get_referents(container):
        if isinstance(item, Tensor) and _place(item).type == device_type:
            return True
        inner = isinstance(item, (tuple, list, dict)) or type(item).__name__ == "_lru_list_elem"
        if inner and depth and _holds(item, device_type, depth - 1):
            return True
    return False
