"""The inputs of a model with other sizes in the dimensions that the user marked."""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.errors import UsageError
from opcheck.model.dynamic import DynamicInput

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


class Axis(Struct, frozen=True):
    """One dimension of one input."""

    key: int | str
    """Position among the inputs, or name."""
    name: str
    """As the user knows it: ``ids:1``."""
    dim: int
    """Not negative."""
    size: int
    """In the example inputs."""

    def __str__(self) -> str:
        return self.name


Sizes = Mapping[Axis, int]


def axes_of(
    marked: Sequence[DynamicInput],
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Axis, ...]:
    """The dimensions that the user marked, each once.

    Raises:
        UsageError: there is no such input or dimension.
    """
    known = dict(_tensors(model, args, kwargs))
    found: dict[Axis, None] = {}
    for one in marked:
        name = _called(one.name, known, args)
        key, tensor = known[name]
        for dim in one.dims:
            if not -tensor.dim() <= dim < tensor.dim():
                raise UsageError(
                    f"--dynamic {str(one)!r}: {name} has no dimension {dim}",
                    f"its shape is {list(tensor.shape)}, so give one of 0 to {tensor.dim() - 1}"
                    if tensor.dim()
                    else "it has no dimensions at all",
                )
            found[_axis(key, name, dim % tensor.dim(), tensor)] = None
    return tuple(found)


def alike(
    axes: Sequence[Axis],
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Axis, ...]:
    """Dimensions of other inputs that stand where a marked one does, and have its size."""
    marked = {axis.key for axis in axes}
    wanted = {(axis.dim, axis.size) for axis in axes}
    return tuple(
        _axis(key, name, dim, tensor)
        for name, (key, tensor) in _tensors(model, args, kwargs)
        if key not in marked
        for dim, size in enumerate(tensor.shape)
        if (dim, size) in wanted
    )


def resized(args: Sequence[Any], kwargs: Mapping[str, Any], sizes: Sizes) -> Inputs:
    """The inputs with these sizes, their values repeated."""
    changed = _by_key(args, kwargs)
    for axis, size in sizes.items():
        changed[axis.key] = tree_map(_resizing(axis.dim, size), changed[axis.key])
    return tuple(changed[place] for place in range(len(args))), {k: changed[k] for k in kwargs}


def _resizing(dim: int, size: int) -> Callable[[Any], Any]:
    def change(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.dim() <= dim:
            return value
        if not value.shape[dim]:
            shape = [*value.shape[:dim], size, *value.shape[dim + 1 :]]
            return value.new_zeros(shape)
        places = torch.arange(size, device=value.device)
        if value.device.type != "meta":
            places %= value.shape[dim]
        return value.index_select(dim, places)

    return change


def _axis(key: int | str, name: str, dim: int, tensor: Tensor) -> Axis:
    return Axis(key, f"{name}:{dim}", dim, int(tensor.shape[dim]))


def _tensors(
    model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, tuple[int | str, Tensor]]]:
    """Name -> key and tensor of every input that is one, or a list of them."""
    names = _parameters(model)
    found = []
    for key, value in _by_key(args, kwargs).items():
        tensors = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
        if tensors:
            known = names[key] if isinstance(key, int) and key < len(names) else str(key)
            found.append((known, (key, tensors[0])))
    return found


def _by_key(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, Any]:
    """Every input by its position or name."""
    by_key: dict[int | str, Any] = dict(enumerate(args))
    by_key.update(kwargs)
    return by_key


def _parameters(model: Callable[..., Any]) -> list[str]:
    """Names of what the model takes by position, as far as Python knows them."""
    known = getattr(model, "user_inputs", None)
    if isinstance(known, dict):  # of an exported program, which takes them by position
        return list(known)
    call = model.forward if isinstance(model, nn.Module) else model
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # written in C
        return []
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in by_position]


def _called(asked: str, known: Mapping[str, Any], args: Sequence[Any]) -> str:
    if asked in known:
        return asked
    if asked.isdecimal():
        by_place = {key: name for name, (key, _) in known.items()}
        if int(asked) in by_place:
            return by_place[int(asked)]
    near = difflib.get_close_matches(asked, known, 1)
    names = ", ".join(known) or "none that is a tensor"
    raise UsageError(
        f"--dynamic: the model is given no tensor named {asked!r}",
        f"did you mean {near[0]}?" if near else f"its inputs are: {names}",
    )
