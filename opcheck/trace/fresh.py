"""A copy of a model for one run, as ``copy.deepcopy`` makes it: modules are most of it, and quick.

Of a hundred layers with a dozen modules each, ``deepcopy`` would go through twenty empty tables of
hooks in every module.
"""

import copy
from collections import OrderedDict
from functools import cache
from typing import Any

from torch import nn

from opcheck.python_state import computed
from opcheck.trace.compiled import mark_compiled

_OWN = frozenset(vars(nn.Module()))
"""What every module has, by name: tables that no other module shares, and plain values."""
_TABLES = frozenset({"_parameters", "_buffers", "_modules"})
_PROTOCOL = (
    *("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__", "__new__", "__slots__"),
)
"""What a class has that is copied in a way of its own."""
_ATOMS = (bool, int, float, str, type(None))


def fresh_copy(module: nn.Module) -> nn.Module:
    """Copy the model for one run: what it caches is then made anew, and the user's stays clean.

    Its tensors are on the traced device by now, so that copying moves no values.
    """
    try:
        made = _copy(module)
    except Exception:  # holds something that cannot be copied: a lock, a handle, a weak reference
        return module
    mark_compiled(module, made)
    return made


def copied(module: nn.Module) -> nn.Module:
    """Copy a module with what its own code computed and keeps, as old weight norms do."""
    return copy.deepcopy(module, computed(*module.modules()))


def _copy(module: nn.Module) -> nn.Module:
    # mypy doubts that a class is hashable
    plain = [m for m in module.modules() if _is_plain(type(m))]  # type: ignore[arg-type]
    memo: dict[int, Any] = {id(part): type(part).__new__(type(part)) for part in plain}
    memo |= computed(*module.modules())
    for part in plain:
        state = {n: _attribute(n, value, memo) for n, value in part.__getstate__().items()}
        memo[id(part)].__setstate__(state)
    return copy.deepcopy(module, memo)


def _attribute(name: str, value: Any, memo: dict[int, Any]) -> Any:
    if type(value) in _ATOMS:
        return value
    if name in _TABLES and type(value) is dict:
        return {key: copy.deepcopy(item, memo) for key, item in value.items()}
    if name in _OWN and not value and type(value) in (dict, OrderedDict, set):
        return type(value)()
    return copy.deepcopy(value, memo)


@cache
def _is_plain(cls: type[nn.Module]) -> bool:
    """Whether ``deepcopy`` would copy such a module attribute by attribute."""
    bases = (base for base in cls.__mro__ if base not in (object, nn.Module))
    return not any(name in vars(base) for base in bases for name in _PROTOCOL)
