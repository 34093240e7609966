"""What libraries that convert graphs ask of arguments: whether they are constants, or one tensor.

Some take a weight that is a parameter or a buffer of the model alone, others one that is computed
of these, too; one that depends on what the model is given none of them knows when it converts.

Python's calls are followed. What C++ makes on its way is not, and nothing is said of that.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch._ops import OpOverload

from opcheck.trace.device.tensors import COMPUTED, DeviceTensor
from opcheck.trace.torch_internals.modes import Modes

OF_INPUTS = "inputs"
OF_PARAMETERS = "parameters"
_NAMES = ("weight", "bias")
"""Arguments of which converters ask it."""
_PRODUCTS = frozenset({torch.ops.aten.mm, torch.ops.aten.addmm})
"""Those of which the second matrix is a weight."""
_SECOND = "mat2"
_FOLDED = frozenset({torch.ops.aten.abs, torch.ops.aten.sign})
"""Those that converters compute of constants in dtypes that they make no operator of."""
_CAT = torch.ops.aten.cat.default


@contextmanager
def followed(module: nn.Module, inputs: Iterable[object]) -> Iterator[None]:
    """Inside, calls note what their weights are computed of; those of the module are its own.

    A storage knows what it was computed of, or the places of the module's own tensors in it.
    """
    for tensor in (*module.parameters(), *module.buffers()):
        if isinstance(tensor, DeviceTensor):
            kept = tensor.untyped_storage().__dict__
            kept[COMPUTED] = (*kept.get(COMPUTED, ()), _place(tensor))
    _note(inputs, OF_INPUTS)
    DeviceTensor.followed = True
    try:
        yield
    finally:
        DeviceTensor.followed = False


def made(given: Iterable[object], results: Iterable[object]) -> None:
    """Note what the results of a call are computed of."""
    ours = [leaf for leaf in given if isinstance(leaf, DeviceTensor)]
    _note(results, OF_PARAMETERS if all(map(is_constant, ours)) else OF_INPUTS)


def _note(leaves: Iterable[object], of: str) -> None:
    for leaf in leaves:
        if isinstance(leaf, DeviceTensor):
            leaf.untyped_storage().__dict__.setdefault(COMPUTED, of)


def is_constant(tensor: DeviceTensor) -> bool:
    """Whether a graph knows it without the model's inputs."""
    if not DeviceTensor.followed:
        return False
    found: object = tensor.untyped_storage().__dict__.get(COMPUTED, OF_INPUTS)
    return found != OF_INPUTS


def told(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Modes:
    """Each weight of a call that is no constant of the model's own, and what it is computed of.

    Of a concatenation, that all are one tensor: a graph has that once among what the call takes.
    Of what converters fold, that a graph knows it without the model's inputs.
    """
    if not DeviceTensor.followed or not isinstance(func, OpOverload):
        return ()
    if func is _CAT:
        tensors = _given(0, "tensors", args, kwargs)
        several = isinstance(tensors, list | tuple) and len(tensors) > 1
        return (("tensors", "the same"),) if several and len({*map(id, tensors)}) == 1 else ()
    if func.overloadpacket in _FOLDED:
        value = _given(0, "self", args, kwargs)
        known = type(value) is DeviceTensor and is_constant(value)
        return (("computed self", OF_PARAMETERS),) if known else ()
    given = ((name, _given(place, name, args, kwargs)) for place, name in _weights(func))
    found = ((name, _computed_of(value)) for name, value in given if type(value) is DeviceTensor)
    return tuple((f"computed {name}", of) for name, of in found if of)


def _computed_of(weight: DeviceTensor) -> str:
    found: object = weight.untyped_storage().__dict__.get(COMPUTED, "")
    if isinstance(found, str):
        return found
    own: Any = found
    return "" if _place(weight) in own else OF_PARAMETERS


def _place(tensor: Tensor) -> tuple[object, ...]:
    """Where in its storage a tensor is: a view of a parameter is computed."""
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset()


@cache
def _weights(func: OpOverload) -> tuple[tuple[int, str], ...]:
    names = (*_NAMES, _SECOND) if func.overloadpacket in _PRODUCTS else _NAMES
    arguments = enumerate(func._schema.arguments)
    return tuple((place, each.name) for place, each in arguments if each.name in names)


def _given(place: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[place] if place < len(args) else kwargs.get(name)
