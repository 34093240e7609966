"""What Python code keeps from one run to the next - variables, tables and function caches."""

import copy
import functools
import gc
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any
from weakref import WeakSet

CACHE: Any = functools._lru_cache_wrapper
"""What ``functools.lru_cache`` makes of a function."""
_NOT_A_MODELS = frozenset(
    {"numpy", "opcheck", "torch", "torchgen",
     "sympy", "mpmath", "networkx", "jinja2", "typing_extensions", "packaging", "scipy",
     "_pytest", "pytest", "xdist", "hypothesis", "pygments", "rich", "typer", "click", "yaml"}
)  # fmt: skip
"""Top packages, beside Python's own library, that hold no tensors of a model's.

PyTorch and what it imports; others that know of no tensors and have thousands of names.
"""
_MAY_CACHE = frozenset({"builtins", "functools", "torch", ""})
"""Top packages of which a cached function may be a model's all the same."""
_KINDS = frozenset({dict, OrderedDict, defaultdict, list, set, deque})
_DEPTH = 2
"""Tables within tables that are looked into."""
_PLAIN = frozenset({bool, int, float, str, type(None)})
"""Types of values that hold nothing."""

_frozen: "WeakSet[Any]" = WeakSet()
"""Function caches that the collector no longer names."""

Table = dict[Any, Any] | list[Any] | set[Any] | deque[Any]


def freeze() -> None:
    """Have the collector leave what there is now, as ``gc.freeze`` does.

    Function caches among it are noted, since the collector cannot name them afterwards.
    """
    _frozen.update(_referring())
    gc.freeze()


def all_function_caches() -> set[Any]:
    """Every ``functools.lru_cache`` of this process that may keep a model's tensors.

    Where other code than ``freeze`` froze what there was, those in a module or a class alone.
    """
    return set(filter(_may_cache, (*_frozen, *_referring())))


def _may_cache(cached: Any) -> bool:
    """Whether a function with a cache may be of a model's, or be given its tensors."""
    top = (cached.__module__ or "").partition(".")[0]
    return top in _MAY_CACHE or not _is_elsewhere(top)


def _is_elsewhere(top: str) -> bool:
    """Whether a top package holds no tensors of a model's."""
    return top in _NOT_A_MODELS or top in sys.stdlib_module_names


def _referring() -> list[Any]:
    # three times as fast as to look at the type of every object
    return [item for item in gc.get_referrers(CACHE) if type(item) is CACHE]


def namespaces() -> Iterator[Any]:
    """Modules that may be a model's, and the classes that are theirs."""
    for name, module in [*sys.modules.items()]:
        if module is None or _is_elsewhere(name.partition(".")[0]):
            continue
        yield module
        for value in [*_variables(module).values()]:
            if isinstance(value, type) and value.__module__ == name:
                yield value


def variables(
    namespace: Any, holds: Callable[[type[Any]], bool] | None = None
) -> Iterator[tuple[str, Any]]:
    """Names that code gave a meaning in a module or a class, none of Python's own.

    With ``holds``, those alone whose value is of a type that it is true of; few are.
    """
    for name, value in [*_variables(namespace).items()]:
        if holds is not None and not holds(type(value)):
            continue
        if not (name.startswith("__") and name.endswith("__")):
            yield name, value


def function_caches(values: Iterable[Any]) -> Iterator[Any]:
    """The ``functools.lru_cache`` in or around functions."""
    for value in values:
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if type(function) is CACHE:
            yield function
        elif type(function) is FunctionType:
            yield from (c for c in map(_content, function.__closure__ or ()) if type(c) is CACHE)


def is_table(kind: type[Any]) -> bool:
    """Whether values of a type are tables; one of another class may do more than keep things."""
    return kind in _KINDS


def tables(value: Any, depth: int = _DEPTH) -> Iterator[Table]:
    """A table with those in it."""
    if type(value) not in _KINDS:
        return
    yield value
    if depth:
        items = _items(value)
        if not _KINDS.isdisjoint(map(type, items)):
            for item in items:
                yield from tables(item, depth - 1)


def computed(*roots: Any) -> dict[int, Any]:
    """Tensors in attributes that autograd computed, for ``copy.deepcopy``, which refuses them.

    Gives for each, by its id, one with its values alone.
    """
    values = [value for root in roots for value in vars(root).values() if _may_hold(value)]
    items = [item for value in values for table in tables(value) for item in _items(table)]
    found = [item for item in (*values, *items) if getattr(item, "grad_fn", None) is not None]
    return {id(item): item.detach().clone() for item in found}


def _may_hold(value: Any) -> bool:
    """Whether a value may be a tensor or have one; a module has twenty tables that are empty."""
    kind = type(value)
    return bool(value) if kind in _KINDS else kind not in _PLAIN


@contextmanager
def left_as_found(holds: Callable[[Any], bool], *roots: Any) -> Iterator[None]:
    """Have a run inside the block leave nothing for the next one, in ``roots`` or elsewhere.

    ``holds``: whether a value is of a run, as a tensor is. What a run imported or registered stays.
    ``roots``: objects whose attributes are as before afterwards where one has come to hold such a
    value. Others keep theirs: a library that has put hooks into a module notes so beside them.
    """
    owners = [(owner, dict(variables(owner))) for owner in namespaces()]
    own = [(root, dict(vars(root))) for root in roots]
    values = [value for _, held in (*owners, *own) for value in held.values()]
    found = {id(table): table for value in values for table in tables(value)}
    contents = [(table, copy.copy(table)) for table in found.values()]
    caches = {id(cache): cache for cache in function_caches(values)}
    sizes = [(cache, cache.cache_info().currsize) for cache in caches.values()]
    try:
        yield
    finally:
        for owner, held in owners:
            _restore(owner, held, holds)
        for table, content in contents:
            _restore_table(table, content, holds)
        for root, held in own:
            if any(map(holds, _new(vars(root), held))):
                vars(root).clear()
                vars(root).update(held)
        for cache, size in sizes:
            if cache.cache_info().currsize != size:
                cache.cache_clear()


def _restore(owner: Any, held: Mapping[str, Any], holds: Callable[[Any], bool]) -> None:
    """Give a namespace its variables back, if one of them has come to hold what is of a run."""
    now = dict(variables(owner))
    changed = [name for name, value in now.items() if held.get(name, held) is not value]
    if not any(holds(now[name]) for name in changed):
        return
    for name in changed:
        if name in held:
            setattr(owner, name, held[name])
        elif holds(now[name]):
            delattr(owner, name)


def _restore_table(table: Any, content: Any, holds: Callable[[Any], bool]) -> None:
    if isinstance(table, dict):
        for key, value in [*table.items()]:
            old = content.get(key, content)
            if old is value or not (holds(value) or holds(key)):
                continue
            if old is content:
                del table[key]
            else:
                table[key] = old
        return
    before = {id(item) for item in content}
    if any(id(item) not in before and holds(item) for item in table):
        table.clear()
        (table.update if isinstance(table, set) else table.extend)(content)


def _new(now: Mapping[str, Any], held: Mapping[str, Any]) -> Iterator[Any]:
    """Values that a name has now and had not before."""
    return (value for name, value in now.items() if held.get(name, held) is not value)


def _variables(namespace: Any) -> Any:
    try:
        return vars(namespace)
    except TypeError:  # what stands in sys.modules for a module may have none
        return {}


def _items(table: Table) -> list[Any]:
    return [*table.values()] if isinstance(table, dict) else [*table]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
