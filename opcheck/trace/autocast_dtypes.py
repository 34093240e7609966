"""The dtypes in which autocast hands a composite's tensors on to what it is made of.

Autocast casts where an operator of its lists is called. A composite that is in none of them, as
``nll_loss_nd``, arrives uncast, and what it runs as is cast: ``nll_loss`` to float32. What a table
of the vendor's says of the composite's dtypes is then a matter of those.
"""

from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import Any

import torch
from msgspec.structs import replace

from opcheck.model.trace import TensorMeta, Value
from opcheck.trace.signature import Call

_CASTS = ("aten::_to_copy", "aten::to", "aten::copy_", "aten::_copy_from")
"""What a cast is, or runs as."""


class Reached:
    """Which floating-point dtypes reach the calls that a composite makes under autocast."""

    def __init__(self) -> None:
        self._open: list[set[str]] = []

    @contextmanager
    def watched(self, casting: bool) -> Iterator[set[str]]:
        """Gather inside the block; nothing where autocast casts nothing there."""
        found: set[str] = set()
        if not casting:
            yield found
            return
        self._open.append(found)
        try:
            yield found
        finally:
            self._open.pop()

    def note(self, call: Call) -> None:
        """A call of what a composite is made of."""
        if self._open and call.func.name().partition(".")[0] not in _CASTS:
            dtypes = {_name(tensor.dtype) for tensor in call.tensors if tensor.is_floating_point()}
            for found in self._open:
                found |= dtypes


def handed_on(
    arguments: tuple[tuple[str, Value], ...], reached: Set[str]
) -> tuple[tuple[str, Value], ...]:
    """Arguments of a composite in the dtypes that ``reached`` what it runs as."""
    if not reached:
        return arguments
    given = max(reached, key=lambda name: getattr(torch, name).itemsize)

    def cast(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(cast, value))
        if not isinstance(value, TensorMeta) or value.dtype in reached:
            return value
        return replace(value, dtype=given) if value.dtype in _CAST else value

    return tuple((name, cast(value)) for name, value in arguments)


_CAST = ("float16", "bfloat16", "float32")
"""What autocast concerns itself with."""


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
