"""A model made ready for one run - copied, put on the device, former runs' caches taken out.

A copy of a model for one run, as ``copy.deepcopy`` makes it: modules are most of it, and quick. Of
a hundred layers with a dozen modules each, ``deepcopy`` would go through twenty empty tables of
hooks in every module.
"""

import copy
import functools
import gc
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar
from unittest.mock import patch

import torch
from torch import Tensor, nn

from opcheck.closures import closures_copied
from opcheck.python_state import (
    CACHE,
    all_function_caches,
    computed,
    is_table,
    namespaces,
    tables,
    variables,
)
from opcheck.trace.device.containers import with_tensors
from opcheck.trace.device.sparse import SPARSE, sparse_tensor
from opcheck.trace.device.state import living
from opcheck.trace.device.tensors import DeviceTensor, Spec, device_tensor
from opcheck.trace.outputs.plan import small
from opcheck.trace.running import parallel
from opcheck.trace.running.eager import mark_compiled

_OWN = frozenset(vars(nn.Module()))
"""What every module has, by name: tables that no other module shares, and plain values."""
_TABLES = frozenset({"_parameters", "_buffers", "_modules"})
_PROTOCOL = (
    *("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__", "__new__", "__slots__"),
)
"""What a class has that is copied in a way of its own."""
_ATOMS = frozenset({bool, int, float, str, type(None)})
_EMPTY = frozenset({dict, OrderedDict, set})


def fresh_copy(module: nn.Module) -> nn.Module:
    """Copy the model for one run: what it caches is then made anew, and the user's stays clean.

    Its tensors are on the traced device by now, so that copying moves no values.
    """
    try:
        with parallel.shared(module) as memo, _optimizers_whole():
            made = _copy(module, memo)
    except Exception:  # holds something that cannot be copied: a lock, a handle, a weak reference
        _placed.clear()  # the run has them themselves
        return module
    mark_compiled(module, made)
    return made


@contextmanager
def _optimizers_whole() -> Iterator[None]:
    """Have ``deepcopy`` give an optimizer all that it has inside the block.

    ``Optimizer.__getstate__``, which is for files, leaves out what a subclass keeps besides.
    """

    def copy_all(self: Any, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = object.__new__(type(self))
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made

    with patch.object(torch.optim.Optimizer, "__deepcopy__", copy_all, create=True):
        yield


def copied(module: nn.Module) -> nn.Module:
    """Copy a module with what its own code computed and keeps, as old weight norms do."""
    memo = computed(*module.modules())
    with closures_copied(module.modules(), memo):
        return copy.deepcopy(module, memo)


def _copy(module: nn.Module, known: dict[int, Any]) -> nn.Module:
    # mypy doubts that a class is hashable
    plain = [m for m in module.modules() if _is_plain(type(m))]  # type: ignore[arg-type]
    memo: dict[int, Any] = {id(part): type(part).__new__(type(part)) for part in plain}
    memo |= computed(*module.modules()) | known
    memo |= {key: copy.deepcopy(placed, memo) for key, placed in _standing.items()}
    with closures_copied(module.modules(), memo):
        _copy_plain(plain, memo)
        return copy.deepcopy(module, memo)


def _copy_plain(modules: Sequence[nn.Module], memo: dict[int, Any]) -> None:
    """Fill the copies in ``memo`` of modules that are copied attribute by attribute."""
    for part in modules:
        state = {}
        for name, value in part.__getstate__().items():
            kind = type(value)
            if kind in _ATOMS:
                state[name] = value
            elif name in _OWN and not value and kind in _EMPTY:
                state[name] = kind()
            elif name in _TABLES and kind is dict:
                state[name] = {key: copy.deepcopy(item, memo) for key, item in value.items()}
            else:
                state[name] = copy.deepcopy(value, memo)
        memo[id(part)].__setstate__(state)


@cache
def _is_plain(cls: type[nn.Module]) -> bool:
    """Whether ``deepcopy`` would copy such a module attribute by attribute."""
    bases = (base for base in cls.__mro__ if base not in (object, nn.Module))
    return not any(name in vars(base) for base in bases for name in _PROTOCOL)


FLOAT_INPUT_LIMIT = 1 << 12
"""Largest floating-point weight or input, in elements, whose values are kept."""


def on_device(value: Any, device: torch.device) -> Any:
    """Put every tensor in nested inputs on the device; small ones keep their values."""
    return with_tensors(lambda tensor: _moved(tensor, device), value)


def _moved(tensor: Tensor, device: torch.device) -> Tensor:
    if isinstance(tensor, DeviceTensor):
        return tensor
    if parallel.in_parts(tensor):
        whole: Tensor = parallel.with_part(tensor, lambda part: _moved(part, device))
        return whole
    if tensor.layout is not torch.strided:
        known = tensor.layout in SPARSE and tensor.device.type == "cpu"
        return sparse_tensor(tensor.detach().clone(), device) if known else tensor
    spec = Spec.of(tensor.dtype, tensor.shape, tensor.stride())
    steers = not spec.dtype.is_floating_point or spec.numel <= FLOAT_INPUT_LIMIT
    plain = tensor.device.type == "cpu" and type(tensor) in (Tensor, nn.Parameter)
    keep = plain and steers and small(spec)
    made = device_tensor(spec, dense_copy(tensor.detach()) if keep else None, device)
    return made.requires_grad_(tensor.requires_grad)


def dense_copy(tensor: Tensor, offset: int = 0) -> Tensor:
    """Give a copy on the host with the same strides, and no more storage than they reach.

    It begins ``offset`` elements after its storage does, unless it is a lazy conjugate.
    """
    if tensor.is_conj() or tensor.is_neg():
        return tensor.clone()
    whole = torch.empty(offset + extent(tensor.shape, tensor.stride()), dtype=tensor.dtype)
    made = whole[offset:]
    made.copy_(tensor.as_strided(made.shape, (1,)))
    return whole.as_strided(tensor.shape, tensor.stride(), offset)


def extent(shape: Sequence[int], stride: Sequence[int]) -> int:
    """Elements from the first to the last one of a strided tensor."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


@contextmanager
def swapped(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Have every parameter and buffer of ``model`` on the device inside the block.

    Shared tensors stay shared. Nothing of the model's own tensors is copied or changed. What a run
    leaves behind is looked for among others: a run has copies of these.
    """
    moved: dict[int, Tensor] = {}
    undo: list[tuple[dict[str, Any], str, Any]] = []
    with torch.no_grad():
        for module in model.modules():
            tables: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
            for table in tables:
                for name, tensor in table.items():
                    if tensor is None or isinstance(tensor, DeviceTensor):
                        continue
                    undo.append((table, name, tensor))
                    table[name] = _shared(tensor, moved, device)
    placed = {id(tensor) for tensor in moved.values() if isinstance(tensor, DeviceTensor)}
    _placed.update(placed)
    _standing.update(moved)
    try:
        yield
    finally:
        _placed.difference_update(placed)
        for key in moved:
            _standing.pop(key, None)
        for table, name, tensor in undo:
            table[name] = tensor


def _shared(tensor: Tensor, moved: dict[int, Tensor], device: torch.device) -> Tensor:
    found = moved.get(id(tensor))
    if found is None:
        found = moved[id(tensor)] = _moved(tensor, device)
        if isinstance(tensor, nn.Parameter) and isinstance(found, DeviceTensor):
            # What makes ``isinstance(t, nn.Parameter)`` true of a subclass, without a dispatch.
            found._is_param = True
    return found


T = TypeVar("T")
Later = Callable[[], T]
"""Gives what came of a work, once it is done."""

_place: Any = Tensor.device.__get__
"""What C++ knows, where Python is told of another device."""
_placed: set[int] = set()
"""Tensors of models that are on the device now, by id, and that no run's code has seen."""
_standing: dict[int, Tensor] = {}
"""What stands for a model's tensors, by their ids, which its optimizers and lists have, too."""
_DEPTH = 5
"""From a cache through its table and its links to a tensor in a tuple or a list."""


def forget() -> None:
    """Take what was recorded out of function caches and of the tables of modules and classes.

    Whatever holds none of it is left alone, as tensors are that the user has on an emulated device.
    Code that keeps something else, as that a table is filled, is not found: only a fresh copy of
    the process does without it.
    """
    if living() == len(_placed):  # mostly there is no other
        return
    ours = torch._C._get_privateuse1_backend_name()
    caches = all_function_caches()
    for namespace in namespaces():
        for name, value in variables(namespace, _may_keep):
            if isinstance(value, DeviceTensor):
                setattr(namespace, name, None)  # as it is written where it is filled on first use
            elif type(value) is CACHE:
                caches.add(value)
            else:
                for table in tables(value):
                    _take_out(table)
    for held in caches:
        if held.cache_info().currsize and _holds(held, ours, _DEPTH):
            held.cache_clear()


def _may_keep(kind: type[Any]) -> bool:
    """Whether a value of a type may be, or keep, what was recorded."""
    return is_table(kind) or kind is CACHE or issubclass(kind, DeviceTensor)


def here(works: Sequence[Callable[[], T]]) -> Sequence[Later[T]]:
    """Do each work in this process when it is asked for, with nothing left of former runs."""

    def later(work: Callable[[], T]) -> T:
        forget()
        return work()

    return [functools.partial(later, work) for work in works]


def _may_hold(kind: type[Any]) -> bool:
    """Whether a key or an item of a type may be a tensor of a recording, or hold one."""
    return issubclass(kind, (DeviceTensor, tuple, frozenset))


def _take_out(table: Any) -> None:
    """Take out the entries with a tensor of a recording."""

    def holds(item: Any) -> bool:
        inner = isinstance(item, (tuple, frozenset))
        return isinstance(item, DeviceTensor) or (inner and any(map(holds, item)))

    kinds = {*map(type, table)}  # of a long table, all that is looked at
    if isinstance(table, dict):
        kinds.update(map(type, table.values()))
    if not any(map(_may_hold, kinds)):
        return
    if isinstance(table, dict):
        for key in [key for key, item in table.items() if holds(key) or holds(item)]:
            del table[key]
    else:
        kept = [item for item in table if not holds(item)]
        if len(kept) != len(table):
            table.clear()
            (table.update if isinstance(table, set) else table.extend)(kept)


def _holds(container: Any, device_type: str, depth: int) -> bool:
    items = gc.get_referents(container)
    kinds = {*map(type, items)}  # of a long table, all that is looked at
    inner = {
        kind
        for kind in kinds
        if issubclass(kind, (tuple, list, dict)) or kind.__name__ == "_lru_list_elem"
    }
    if not inner and not any(issubclass(kind, Tensor) for kind in kinds):
        return False
    for item in items:
        if isinstance(item, Tensor) and _place(item).type == device_type:
            return True
        if depth and type(item) in inner and _holds(item, device_type, depth - 1):
            return True
    return False
