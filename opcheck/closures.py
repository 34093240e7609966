"""Functions that see parts of a model by their closures - copied with it.

``copy.deepcopy`` takes every function for a constant: a hook that a model defines in ``__init__``
would write what it sees to the model that was copied, and the copy would look for it in vain.
"""

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import WRAPPER_ASSIGNMENTS, partial
from types import CellType, FunctionType
from typing import Any

_KEPT = (type(None), bool, int, float, str, bytes, type)
"""What is one and the same in every copy."""


@contextmanager
def closures_copied(parts: Iterable[Any], memo: dict[int, Any]) -> Iterator[None]:
    """Have ``copy.deepcopy`` with ``memo`` copy functions too, inside the block.

    They are those of ``parts``, as hooks are, that see another part or an attribute of one.
    """
    owners = [*parts]
    held = {id(owner) for owner in owners}
    held |= {id(value) for owner in owners for value in _held(owner)}
    functions = dict.fromkeys(function for owner in owners for function in _functions(owner))
    cells = [cell for function in functions for cell in _put(function, held, memo)]
    yield
    for cell, content in cells:
        cell.cell_contents = copy.deepcopy(content, memo)


def _held(owner: Any) -> Iterator[Any]:
    """The attributes that a copy has a copy of."""
    return (value for value in vars(owner).values() if not isinstance(value, _KEPT))


def _functions(owner: Any) -> Iterator[FunctionType]:
    """Functions that are an attribute, or in a table that is one, such as that of the hooks."""
    for value in vars(owner).values():
        items = value.values() if isinstance(value, dict) else value
        among = items if isinstance(value, (dict, list, tuple)) else (value,)
        for item in among:
            function = item.func if isinstance(item, partial) else item
            if isinstance(function, FunctionType):
                yield function


def _put(
    function: FunctionType, held: set[int], memo: dict[int, Any]
) -> Iterator[tuple[CellType, Any]]:
    """Put a copy into ``memo`` where one is due; gives its cells, and what each has a copy of."""
    if id(function) in memo or not _is_copied(function, held, memo):
        return
    contents = {id(cell): content for cell, content in _cells(function)}
    made = {key: CellType(content) for key, content in contents.items()}
    memo[id(function)] = _like(function, [made.get(id(c), c) for c in function.__closure__ or ()])
    for key, content in contents.items():
        if isinstance(content, FunctionType):
            yield from _put(content, held, memo)
        if _is_copied(content, held, memo):
            yield made[key], content


def _is_copied(
    value: Any, held: set[int], memo: dict[int, Any], outer: tuple[Any, ...] = ()
) -> bool:
    if id(value) in memo or not isinstance(value, FunctionType):
        return id(value) in held or id(value) in memo
    if any(value is each for each in outer):
        return False
    inner = (*outer, value)
    return any(_is_copied(content, held, memo, inner) for _, content in _cells(value))


def _cells(function: FunctionType) -> Iterator[tuple[CellType, Any]]:
    """Cells of a function and what is in them; not those that are still empty."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        yield cell, content


def _like(function: FunctionType, cells: list[CellType]) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        tuple(cells),
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    for name in WRAPPER_ASSIGNMENTS:
        setattr(made, name, getattr(function, name))
    vars(made).update(vars(function))
    return made
