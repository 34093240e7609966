"""A recorded call made again: its overload with arguments that a function can be given."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.model.trace import Constant, Node, TensorMeta, Value

MakeTensor = Callable[[str, TensorMeta], Tensor]
"""Makes the tensor of an argument, whose name comes first."""


class Call(Struct, frozen=True):
    """One call with tensors in its arguments."""

    func: Any
    """The ``torch._ops.OpOverload``."""
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def given(self, name: str, otherwise: Any = None) -> Any:
        """An argument by its schema name; its default, or ``otherwise``, where it is left out."""
        for index, argument in enumerate(self.func._schema.arguments):
            if argument.name == name:
                if index < len(self.args):
                    return self.args[index]
                default = argument.default_value if argument.has_default_value() else otherwise
                return self.kwargs.get(name, default)
        return otherwise


def call_of(func: Any, node: Node, make: MakeTensor) -> Call:
    """Make the call of ``node`` again with tensors from ``make``.

    Raises:
        ValueError: it has an argument that a trace cannot keep, such as a generator.
    """
    given = {name: _made(name, value, make) for name, value in node.arguments}
    args: list[Any] = []
    for argument in func._schema.arguments:
        if argument.kwarg_only or argument.name not in given:
            break
        args.append(_as_typed(argument, given.pop(argument.name)))
    typed = {a.name: a for a in func._schema.arguments}
    return Call(func, tuple(args), {n: _as_typed(typed[n], v) for n, v in given.items()})


def on_meta(name: str, meta: TensorMeta) -> Tensor:
    """Give a tensor without values, laid out as it was seen."""
    dtype = getattr(torch, meta.dtype)
    return torch.empty_strided(meta.shape, meta.stride, dtype=dtype, device="meta")


def _made(name: str, value: Value, make: MakeTensor) -> Any:
    match value:
        case TensorMeta():
            return make(name, value)
        case Constant("dtype" | "layout" | "memory_format", text):
            return getattr(torch, text)
        case Constant("device", _):
            return None  # of the tensors'
        case Constant(kind, text):
            raise ValueError(f"{name} is {text or kind}, of which the trace keeps no value")
        case tuple():
            return [_made(name, item, make) for item in value]
        case _:
            return value


def _as_typed(argument: Any, value: Any) -> Any:
    """Give a complex number, which a trace keeps as text, back its type."""
    complex_text = isinstance(value, str) and str(argument.type).strip("?") in ("number", "Tensor")
    return complex(value) if complex_text else value
