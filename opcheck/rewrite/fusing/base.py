"""What a fusion is - several calls that one kernel computes - and which fusions there are."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import torch
from msgspec import Struct
from torch import Generator, Tensor

import opcheck.rewrite.fusing.rules
from opcheck.model.plan import Label
from opcheck.registry import discover


class Variant(Struct, frozen=True):
    """One way to write what a kernel computes, as an ordinary PyTorch function."""

    function: Callable[..., Any]
    tensors: tuple[str, ...]
    """Its positional arguments."""
    numbers: tuple[str, ...] = ()
    """Arguments by keyword alone: numbers that the model has chosen."""


def variant(function: Callable[..., Any]) -> Variant:
    """A way to write it, by the names of the function's own arguments."""
    tensors: list[str] = []
    numbers: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        alone = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        (numbers if alone else tensors).append(name)
    return Variant(function, tuple(tensors), tuple(numbers))


class VendorOperator(Struct, frozen=True):
    """An operator that only the vendor's plugin has, and what it computes on the host."""

    name: str
    """``npu::npu_swiglu``."""
    signature: str
    """As the vendor's list has it: ``(Tensor self, int dim=-1) -> Tensor``."""
    reference: Callable[..., Any]
    """The vendor's documented formula; a function of its module that needs nothing but torch."""
    plugin: str
    """The module whose import brings the operator: ``torch_npu``."""


class Found(Struct, frozen=True):
    """Calls of a model that are one of the ways to write it."""

    tensors: Mapping[str, Any]
    """Argument -> a tensor that has shape, strides and dtype, but no values."""
    numbers: Mapping[str, Any]
    """Argument -> the number that the model has."""
    result: Tensor
    chip: str
    """The chip of the target: ``910b``."""


class Fusion(ABC):
    """Calls that one kernel of a vendor's computes; a file in ``fusing/rules`` is all it takes.

    The docstring of the class says what is fused, into what, and why the values are the same.
    """

    name: ClassVar[str]
    """``rms-norm-npu``: what is fused, and for whom."""
    summary: ClassVar[str]
    """What it does, as an order: ``Use the fused root-mean-square norm``."""
    kernels: ClassVar[tuple[str, ...]]
    """The overload that is called, then others that it may run as: the target has to have a kernel
    of its own for one of them."""
    label: ClassVar[Label] = Label.TOLERANCE
    tolerance: ClassVar[float]
    """How far results may be off, relative to the largest, in units of the dtype's ``eps``."""
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (torch.float32, torch.float16, torch.bfloat16)
    """What the kernel takes, and the values are proved in."""
    variants: ClassVar[Sequence[Variant | Callable[..., Any]]]
    """The ways to write it, those that take in most first."""
    replace: ClassVar[Callable[..., Any]]
    """Calls the kernel; its arguments have the names of the variants'."""
    in_class: ClassVar[Callable[..., Any] | None] = None
    """What is written into a class of the user's instead of ``replace``, which does for all
    variants; for those alone that have just its arguments."""
    operators: ClassVar[tuple[VendorOperator, ...]] = ()
    """What it calls that torch itself has not."""
    references: ClassVar[tuple[str, ...]] = ()
    """Where the kernel's formula and conditions are from."""

    @abstractmethod
    def example(self) -> Mapping[str, Tensor]:
        """Small tensors for all arguments of all variants; their sizes do not matter."""

    def refuses(self, found: Found) -> str:
        """Say in one sentence why the kernel does not take these calls; "" where it does."""
        return ""

    def draw(self, name: str, like: Tensor, generator: Generator) -> Tensor:
        """Values of an argument for the proof, with the shape and dtype of ``like``."""
        return drawn(like, generator)

    @classmethod
    def ways(cls) -> tuple[Variant, ...]:
        """The variants, with the names of their arguments."""
        return tuple(w if isinstance(w, Variant) else variant(w) for w in cls.variants)


def drawn(like: Tensor, generator: Generator) -> Tensor:
    """Numbers around zero, or both truth values, in the shape and dtype of a tensor."""
    shape = tuple(int(size) for size in like.shape)
    if like.dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    return torch.randn(shape, generator=generator).to(like.dtype)


@cache
def fusions() -> tuple[Fusion, ...]:
    """Every fusion that opcheck brings, by name."""
    found = discover(opcheck.rewrite.fusing.rules, Fusion)  # type: ignore[type-abstract]  # only subclasses come
    return tuple(kind() for kind in found)
