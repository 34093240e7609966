"""A recorded call made again, and how much of its outcome the operator determines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.lang.sentence import Sentence
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
            raise ValueError(
                Sentence(
                    "{name} is {text}, of which the trace keeps no value",
                    name=name,
                    text=text or kind,
                )
            )
        case tuple():
            return [_made(name, item, make) for item in value]
        case _:
            return value


def _as_typed(argument: Any, value: Any) -> Any:
    """Give a complex number, which a trace keeps as text, back its type."""
    complex_text = isinstance(value, str) and str(argument.type).strip("?") in ("number", "Tensor")
    return complex(value) if complex_text else value


Outcome = tuple[Sequence[Tensor], Sequence[Tensor] | None]
"""Results, and gradients where there are any."""

ANY_OF_EQUAL = "of equal values, which one is taken: another index, and of zeros the other sign"
"""What a rule gives up that sorts or reduces in another order than PyTorch's kernels do."""
OTHER_ZERO = "of zeros of both signs, which one is taken"
"""The same, where no index is given."""


def named_by_value(call: Call, outcome: Outcome) -> Outcome:
    """Take what an operator gives with ``values`` and ``indices``, whichever equal one it names.

    Each index becomes the value that it names, and each element's gradient becomes the sum of
    the gradients of all that are equal to it.
    """
    results, gradients = outcome
    self, dim = call.given("self").detach(), call.given("dim")
    if not self.dim():
        self, dim = self.reshape(1), 0
    canonical = [
        _named(self, dim, result) if place % 2 else result for place, result in enumerate(results)
    ]
    if gradients is None or not self.numel():
        return canonical, gradients
    return canonical, [_shared(self, dim, g.reshape(self.shape)) for g in gradients[:1]]


def _named(self: Tensor, dim: int, indices: Tensor) -> Tensor:
    """What indices name, of their shape: the dimension may be gone, or have any size."""
    gone = indices.dim() != self.dim()
    if gone:
        indices = indices.unsqueeze(dim)
    if bool(((indices < 0) | (indices >= max(self.size(dim), 1))).any()):
        return indices  # outside: nothing is named, and nothing is equal to it
    named = self.gather(dim, indices)
    return named.squeeze(dim) if gone else named


def _shared(self: Tensor, dim: int, gradient: Tensor) -> Tensor:
    """Per element, the sum of the gradients of its equals along ``dim``."""
    ordered, places = self.sort(dim=dim, stable=True)
    size = self.size(dim) - 1
    before, after = ordered.narrow(dim, 0, size), ordered.narrow(dim, 1, size)
    apart = (before != after) & ~(before.isnan() & after.isnan())
    first = torch.zeros_like(places.narrow(dim, 0, 1))
    runs = torch.cat([first, apart.long().cumsum(dim)], dim)
    wide = gradient.double().gather(dim, places)
    sums = torch.zeros_like(wide).scatter_add(dim, runs, wide).gather(dim, runs)
    return torch.empty_like(sums).scatter(dim, places, sums)
