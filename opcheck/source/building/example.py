"""Example tensors by the model's signature - the user's shapes, valid values, same each run."""

import difflib
import inspect
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, assert_never

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_map_only  # private; checked with torch 2.13

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.fill import normal
from opcheck.source.building.weightless import is_large
from opcheck.source.inputs import ConstantSpec, InputSpec, ListSpec, TensorSpec, ValueSpec

_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Signature(Struct, frozen=True):
    """Names of a forward's parameters, in order."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    open: bool = False
    """Whether it takes any name, through ``**kwargs``."""

    @classmethod
    def of(cls, module: Callable[..., Any]) -> "Signature":
        """Read it from the code; of a callable without one, any name is taken."""
        forward = module.forward if isinstance(module, nn.Module) else module
        try:
            parameters = inspect.signature(forward).parameters.values()
        except (ValueError, TypeError):
            return cls((), (), open=True)
        plain = [p for p in parameters if p.kind not in _MANY]
        required = tuple(p.name for p in plain if p.default is p.empty)
        return cls(
            tuple(p.name for p in plain),
            required,
            any(p.kind is p.VAR_KEYWORD for p in parameters),
        )

    def takes(self, name: str) -> bool:
        """Whether ``name`` may be given by name; one letter off a parameter is a slip."""
        near = difflib.get_close_matches(name, self.names, 1, cutoff=0.8)
        return name in self.names or (self.open and not near)

    def takes_exactly(self, name: str) -> bool:
        """Whether ``name`` is one of the parameters."""
        return name in self.names

    def name_at(self, place: int) -> str:
        """The parameter at a position, or ""."""
        return self.names[place] if place < len(self.names) else ""

    def by_name(self, args: tuple[Any, ...]) -> Mapping[str, Any]:
        """Name positional arguments; those beyond the names are left out."""
        return dict(zip(self.names, args, strict=False))

    def after(self, args: tuple[Any, ...]) -> tuple[str, ...]:
        """Names that positional arguments leave over."""
        return self.names[len(args) :]

    def __str__(self) -> str:
        names = [name if name in self.required else f"{name}=…" for name in self.names]
        return f"({', '.join([*names, *(['**kwargs'] if self.open else [])])})"


Inputs = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and named inputs of one call."""
_MOST_BYTES = 2**63 - 1
"""Of one tensor: torch counts them so."""
_DIGITS = 24
"""Of a size, as much of it as is shown."""


def vocabulary(module: nn.Module) -> int:
    """How many integer ids are surely valid: the smallest embedding's, or 2 without one."""
    sizes = [part.num_embeddings for part in module.modules() if isinstance(part, nn.Embedding)]
    return max(min(sizes, default=2), 1)


def float_dtype(module: nn.Module) -> torch.dtype:
    """Give the dtype of the module's first floating-point parameter: what its inputs have."""
    dtypes = (parameter.dtype for parameter in module.parameters())
    return next((dtype for dtype in dtypes if dtype.is_floating_point), torch.float32)


def example(name: str, shape: tuple[int, ...], dtype: torch.dtype, ids: int = 2) -> torch.Tensor:
    """Make one input: integers below ``ids``, masks all true, what is large without values.

    Raises:
        SourceError: no tensor has such a shape.
    """
    if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize > _MOST_BYTES:
        shown = "x".join(str(size)[:_DIGITS] for size in shape)
        raise SourceError(
            Sentence("an input of shape {text} is none that a tensor can have", text=shown)
        )
    if is_large(prod(shape), dtype):
        return torch.empty(shape, dtype=dtype, device="meta")
    return values_of(name, shape, dtype, ids)


def values_of(name: str, shape: tuple[int, ...], dtype: torch.dtype, ids: int = 2) -> torch.Tensor:
    """Make one input with values, however large."""
    if "mask" in name and not dtype.is_complex:
        return torch.ones(shape, dtype=dtype)
    if dtype.is_floating_point or dtype.is_complex:
        # a slope: no two elements alike, which sorting and comparing then see
        return torch.linspace(0, 1, prod(shape)).reshape(shape).to(dtype)
    return (torch.arange(prod(shape)) % ids).reshape(shape).to(dtype)


def image_of(module: nn.Module, batch: int = 1) -> Inputs | None:
    """Make the images that a timm model's own config asks for; None for any other module."""
    config: Mapping[str, Any] = getattr(module, "pretrained_cfg", None) or {}
    size = config.get("input_size")
    return ((example("", (batch, *size), float_dtype(module)),), {}) if size else None


def of_spec(name: str, value: ValueSpec, default: torch.dtype, ids: int) -> Any:
    """Make what one ``--input`` asks for; ``default`` is the dtype where it names none."""
    match value:
        case TensorSpec(shape, dtype):
            chosen = getattr(torch, dtype) if dtype else default
            return example(name, shape, chosen, ids)
        case ListSpec(items):
            return [of_spec(name, item, default, ids) for item in items]
        case ConstantSpec():
            return value.value
        case _:
            assert_never(value)


def override(
    inputs: Inputs, specs: tuple[InputSpec, ...], signature: Signature, ids: int = 2
) -> Inputs:
    """Put what the user asked for in the place of ``inputs``, of the same dtype if none is named.

    Positional ones replace all positional inputs, a named one that of its parameter.
    """
    args, kwargs = inputs
    known = {**signature.by_name(args), **kwargs}

    def make(name: str, spec: InputSpec) -> Any:
        old = known.get(name)
        dtype = old.dtype if isinstance(old, torch.Tensor) else torch.float32
        return of_spec(name, spec.value, dtype, ids)

    given = [spec for spec in specs if not spec.name]
    if given:
        args = tuple(make(signature.name_at(place), spec) for place, spec in enumerate(given))
    made = {spec.name: make(spec.name, spec) for spec in specs if spec.name}
    unknown = next((name for name in made if not signature.takes(name)), None)
    if unknown is not None:
        raise SourceError(
            Sentence(
                "--input {name}=…: the model's forward has no parameter {name_b}",
                name=unknown,
                name_b=repr(unknown),
            ),
            Sentence("it takes {list}", list=signature),
        )
    positions = signature.names[: len(args)]
    args = tuple(
        made.pop(signature.name_at(place), value) if given == [] else value
        for place, value in enumerate(args)
    )
    return args, {**{name: kwargs[name] for name in kwargs if name not in positions}, **made}


def require(inputs: Inputs, signature: Signature) -> None:
    """Refuse inputs that leave a parameter without a value."""
    args, kwargs = inputs
    missing = [name for name in signature.after(args) if name in signature.required]
    missing = [name for name in missing if name not in kwargs]
    if missing:
        raise needed(
            Sentence("the model's forward needs {list}", list=", ".join(missing)), signature
        )


def needed(problem: Sentence, signature: Signature) -> SourceError:
    """Ask for inputs that nothing tells."""
    asked = " ".join(f"--input {name}=1x16:float32" for name in signature.required or ("x",))
    return SourceError(
        Sentence("{said}; it takes {text}", said=problem, text=signature),
        Sentence(
            "say shape and dtype of each, as in {text}, or return (module, inputs) from a factory",
            text=asked,
        ),
    )


def normalise(what: str, inputs: Any) -> Inputs:
    """Read what a factory gave as inputs: a tensor, a tuple, a dict, or (tuple, dict)."""
    if isinstance(inputs, PackedSequence):  # a named tuple, of one argument
        return (inputs,), {}
    if isinstance(inputs, tuple):
        if len(inputs) == 2 and isinstance(inputs[0], tuple) and isinstance(inputs[1], Mapping):
            return inputs[0], dict(inputs[1])
        return inputs, {}
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, torch.Tensor | list):
        return (inputs,), {}
    raise SourceError(
        Sentence("{said} gives inputs of type {type}", said=what, type=type(inputs).__name__),
        Sentence(
            "inputs are a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict)"
        ),
    )


def valued(inputs: Inputs, signature: Signature | None = None, ids: int = 2) -> Inputs:
    """Give the same inputs, each tensor on the CPU: numbers below ``ids`` where it had no values.

    Floats are drawn from the normal distribution; ``signature`` names positional inputs.
    """
    args, kwargs = inputs
    generator = torch.Generator().manual_seed(0)

    def made(name: str, value: Any) -> Any:
        return tree_map_only(Tensor, lambda tensor: _valued(name, tensor, ids, generator), value)

    name_at = signature.name_at if signature else lambda _place: ""
    return (
        tuple(made(name_at(place), value) for place, value in enumerate(args)),
        {name: made(name, value) for name, value in kwargs.items()},
    )


def _valued(name: str, tensor: Tensor, ids: int, generator: torch.Generator) -> Tensor:
    if not tensor.is_meta:
        return tensor.cpu()
    shape, dtype = tuple(tensor.shape), tensor.dtype
    number = dtype.is_floating_point or dtype.is_complex
    drawn = number and "mask" not in name
    values = normal(shape, dtype, generator) if drawn else values_of(name, shape, dtype, ids)
    return torch.empty_strided(shape, tensor.stride(), dtype=dtype, device="cpu").copy_(values)
