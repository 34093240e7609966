"""Calls made from schemas alone, of overloads that PyTorch has no samples of.

Numbers, sizes and tensors of small shapes are tried in turn; what PyTorch refuses is no call.
"""

from collections.abc import Collection, Iterator
from typing import Any

_SHAPES = ((2, 3), (4,), (2, 3, 4), (2, 4, 4, 4), (2, 3, 4, 4, 4))
"""Shapes that every tensor of a call has, the first that PyTorch takes."""
_PLAIN = {"int": 1, "SymInt": 1, "float": 1.0, "number": 1, "bool": False, "Scalar": 1}
_BACKWARD = "backward"
_SIZE = 2
"""What stands in lists of numbers, as often as the schema says, or once."""


def made(overload: Any, dtype: Any) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Arguments that PyTorch runs the overload with; None where no shape is taken."""
    import torch

    torch.manual_seed(0)
    for shape in _SHAPES:
        try:
            args, kwargs = _filled(overload, dtype, shape)
            overload(*args, **kwargs)
        except Exception:  # whatever PyTorch says of these
            continue
        return args, kwargs
    return None


def tried(names: Collection[str], overloads: Iterator[Any]) -> Iterator[Any]:
    """The overloads of these names that a model may call, and PyTorch does not take apart.

    None that writes to an argument, none of gradients.
    """
    import torch

    implicit = torch._C._dispatch_has_kernel_for_dispatch_key
    for overload in overloads:
        name = overload.name()
        skipped = name not in names or overload._schema.is_mutable or _BACKWARD in name
        if not (skipped or implicit(name, "CompositeImplicitAutograd")):
            yield overload


def _filled(overload: Any, dtype: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A value for each argument that has no default."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for argument in overload._schema.arguments:
        if argument.has_default_value():
            continue
        value = _value(argument, dtype, shape)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _value(argument: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """One value of the argument's type.

    Raises:
        LookupError: there is none of such a type.
    """
    import torch

    kind = str(argument.type)
    if kind == "Tensor":
        return (torch.rand(shape) * 8 + 1).to(dtype)
    if kind.startswith("Optional["):
        return None
    if kind == "List[Tensor]":
        return [(torch.rand(shape) * 8 + 1).to(dtype) for _ in range(_SIZE)]
    if kind in ("List[int]", "List[SymInt]"):
        return [1] if argument.name.startswith("dim") else [_SIZE] * (argument.N or 1)
    if kind not in _PLAIN:
        raise LookupError(kind)
    return _PLAIN[kind]
