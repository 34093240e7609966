"""Complex numbers moved about as pairs of real ones, and their magnitude."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import COMPLEX, FLOATS, Draw


def _pairs(x: Tensor) -> Tensor:
    return torch.view_as_real(x.resolve_conj())


def _numbers(pairs: Tensor) -> Tensor:
    return torch.view_as_complex(pairs.contiguous())


def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Pick pairs instead of numbers."""
    if not self.dim():
        return _numbers(_pairs(self).clone())
    return _numbers(_pairs(self).index_select(dim % self.dim(), index))


def gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Gather pairs instead of numbers."""
    pairs = _pairs(self)
    if not self.dim():
        return _numbers(
            pairs.unsqueeze(0).expand(*index.shape, 2) if index.dim() else pairs.clone()
        )
    places = index.unsqueeze(-1).expand(*index.shape, 2)
    return _numbers(pairs.gather(dim % self.dim(), places))


def index(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Index pairs instead of numbers."""
    picked: list[Any] = [slice(None) if i is None else i for i in indices]
    return _numbers(_pairs(self)[tuple(picked)])


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join pairs instead of numbers."""
    full = [x for x in tensors if x.shape != (0,)] or tensors[:1]  # those count for nothing
    return _numbers(torch.cat([_pairs(x) for x in full], dim % max(full[0].dim(), 1)))


def joined(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join pairs; real numbers are left to torch."""
    full = list(tensors)
    return cat(full, dim) if all(x.is_complex() for x in full) else torch.cat(full, dim)


def mul(self: Tensor, other: Tensor) -> Tensor:
    """Multiply the parts: (a + b i)(c + d i) = (a c - b d) + (a d + b c) i."""
    (a, b), (c, d) = _pairs(self).unbind(-1), _pairs(other).unbind(-1)
    return _numbers(torch.stack([a * c - b * d, a * d + b * c], -1))


def product(input: Tensor, other: Any) -> Tensor:
    """Multiply the parts; what is not complex in both is left to torch."""
    if isinstance(other, Tensor) and input.is_complex() and other.dtype is input.dtype:
        return mul(input, other)
    return torch.mul(input, other)


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: complex = 0) -> Tensor:
    """Pad both parts."""
    real, imag = _pairs(self).unbind(-1)
    number = complex(value)
    wide = torch.nn.functional.pad(real, list(pad), value=number.real)
    return _numbers(
        torch.stack([wide, torch.nn.functional.pad(imag, list(pad), value=number.imag)], -1)
    )


def padded(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: complex | None = None
) -> Tensor:
    """``pad`` as users call it; real numbers, and other modes, are left to torch."""
    if mode != "constant" or not input.is_complex():
        return torch.nn.functional.pad(input, pad, mode, value)  # type: ignore[arg-type]
    return constant_pad_nd(input, pad, 0 if value is None else value)


def fill(self: Tensor, value: complex) -> Tensor:
    """Fill both parts."""
    real, number = _pairs(self)[..., 0], complex(value)
    parts = [torch.full_like(real, number.real), torch.full_like(real, number.imag)]
    return _numbers(torch.stack(parts, -1))


def conj_physical(self: Tensor) -> Tensor:
    """Turn the sign of every imaginary part."""
    pairs = _pairs(self)
    return _numbers(torch.stack([pairs[..., 0], -pairs[..., 1]], -1))


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Pair what cosine and sine make of each length."""
    return _numbers(torch.stack([abs * angle.cos(), abs * angle.sin()], -1))


def conj_of_parts(self: Tensor) -> Tensor:
    """Put the real part together with the imaginary one, which a quarter turn makes real."""
    return torch.complex(self.real, (self * 1j).real)


def polar_of_parts(abs: Tensor, angle: Tensor) -> Tensor:
    """Put together what cosine and sine make of each length."""
    return torch.complex(abs * angle.cos(), abs * angle.sin())


class IndexSelectAsReal(Rule):
    """A complex tensor is read as pairs of real numbers, which are moved, and read back.

    For targets whose kernel takes real numbers alone; the readings are views. What to prefer in a
    model: tables of cosines and sines apart, so that nothing is complex at all.
    """

    name = "index-select-as-real"
    replaces: ClassVar[tuple[str, ...]] = ("aten::index_select",)
    summary = "Move pairs of real numbers instead of complex ones"
    spellings: ClassVar[tuple[str, ...]] = ("torch.index_select", "Tensor.index_select")
    references = (
        "https://github.com/vllm-project/vllm-omni/pull/6571",
        "https://github.com/huggingface/diffusers/pull/12979",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(index_select)

    def refuses(self, call: Call) -> str:
        """Decline real numbers."""
        given = call.args[0]
        numbers = list(given) if isinstance(given, list | tuple) else [given]
        if call.func._schema.name == "aten::mul":
            numbers.append(call.args[1])
        if not numbers or any(getattr(x, "dtype", None) not in COMPLEX for x in numbers):
            return "the numbers are not complex"
        return "" if len({x.dtype for x in numbers}) == 1 else "the numbers are of two dtypes"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along any dimension."""
        x = draw.tensor(draw.shape(1, 3, smallest=1), COMPLEX)
        dim = draw.dim(x)
        return (x, dim, draw.indices([draw.integer(0, 4)], x.size(dim))), {}


class GatherAsReal(IndexSelectAsReal):
    """A complex tensor is read as pairs of real numbers, which are gathered, and read back."""

    name = "gather-as-real"
    replaces = ("aten::gather",)
    spellings = ("torch.gather", "Tensor.gather")
    replace = staticmethod(gather)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along any dimension, other dimensions no longer than the tensor's."""
        x = draw.tensor(draw.shape(1, 3, smallest=1), COMPLEX)
        dim = draw.dim(x)
        shape = [draw.integer(1, size) for size in x.shape]
        return (x, dim, draw.indices(shape, x.size(dim))), {}


class IndexAsReal(IndexSelectAsReal):
    """A complex tensor is read as pairs of real numbers, which are indexed, and read back."""

    name = "index-as-real"
    replaces = ("aten::index.Tensor",)
    spellings = ()
    replace = staticmethod(index)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With one or two tensors of places."""
        x = draw.tensor(draw.shape(2, 3, smallest=1), COMPLEX)
        shape = [draw.integer(0, 3)]
        places = [draw.indices(shape, size) for size in x.shape[: draw.integer(1, 2)]]
        return (x, [None, *places] if len(places) == 1 and draw.flag() else places), {}

    def refuses(self, call: Call) -> str:
        """Decline masks as well, whose result has no fixed size."""
        if any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in call.args[1]):
            return "a mask picks"
        return super().refuses(call)


class CatAsReal(IndexSelectAsReal):
    """Complex tensors are read as pairs of real numbers, which are joined, and read back."""

    name = "cat-as-real"
    replaces = ("aten::cat",)
    summary = "Join pairs of real numbers instead of complex ones"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.cat": joined,
        "torch.concat": joined,
        "torch.concatenate": joined,
    }
    replace = staticmethod(cat)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Two tensors along any dimension."""
        dtype, shape = draw.choose(COMPLEX), draw.shape(1, 3, smallest=1)
        parts = [draw.tensor(shape, (dtype,)), draw.tensor(shape, (dtype,))]
        return (parts, draw.dim(parts[0])), {}


class MulAsReal(IndexSelectAsReal):
    """``(a + b i)(c + d i) = (a c - b d) + (a d + b c) i`` in real numbers.

    This is what rotary embeddings ask for. The view as pairs costs nothing, the result is made
    once more.
    """

    name = "mul-as-real"
    label = Label.TOLERANCE
    tolerance = 16.0
    replaces = ("aten::mul.Tensor",)
    summary = "Multiply real and imaginary parts"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.mul": product,
        "Tensor.mul": product,
        "torch.multiply": product,
        "Tensor.multiply": product,
    }
    replace = staticmethod(mul)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one shape, or one of them broadcast."""
        dtype, x = draw.choose(COMPLEX), draw.shape(0, 3)
        other = x[draw.integer(0, len(x)) :]
        return (draw.tensor(x, (dtype,)), draw.tensor(other, (dtype,))), {}


class ConjAsReal(IndexSelectAsReal):
    """A complex tensor is read as pairs of real numbers; the second ones change their sign."""

    name = "conj-as-real"
    replaces = ("aten::conj_physical",)
    summary = "Turn the sign of imaginary parts"
    spellings = ("torch.conj_physical", "Tensor.conj_physical")
    replace = staticmethod(conj_physical)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of any shape."""
        return (draw.tensor(dtypes=COMPLEX),), {}


class PolarAsReal(Rule):
    """``abs * cos(angle)`` and ``abs * sin(angle)`` are paired and read as complex numbers.

    For targets without a kernel that makes complex numbers of two real tensors. A model that only
    rotates by them does so in real numbers, and needs no complex ones at all.
    """

    name = "polar-as-real"
    label = Label.TOLERANCE
    tolerance = 256.0  # of the gradient of lengths, in which sines and cosines may cancel
    replaces: ClassVar[tuple[str, ...]] = ("aten::polar",)
    summary = "Pair cosines and sines"
    spellings: ClassVar[tuple[str, ...]] = ("torch.polar",)
    references = ("https://github.com/huggingface/diffusers/pull/12979",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(polar)

    def refuses(self, call: Call) -> str:
        """Decline two dtypes, and half precision."""
        if any(x.dtype not in FLOATS[:2] for x in call.args[:2]):
            return "the numbers are of half precision"
        return "" if call.args[0].dtype is call.args[1].dtype else "the numbers are of two dtypes"

    def valid(self, call: Call) -> Call:
        """Take lengths that are no less than 0: the gradient of others has another sign."""
        return Call(call.func, (call.args[0].abs(), *call.args[1:]), call.kwargs)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one shape, or one of them broadcast."""
        dtype, x = draw.choose(FLOATS[:2]), draw.shape(0, 3)
        other = x[draw.integer(0, len(x)) :]
        lengths = draw.tensor(x, (dtype,), edges=False).abs()
        return (lengths, draw.tensor(other, (dtype,), edges=False)), {}


class PadAsReal(IndexSelectAsReal):
    """Real and imaginary parts are padded apart, and put together as pairs."""

    name = "pad-as-real"
    replaces = ("aten::constant_pad_nd",)
    summary = "Pad real and imaginary parts"
    spellings = ("torch.constant_pad_nd",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.nn.functional.pad": padded}
    replace = staticmethod(constant_pad_nd)

    def example(self, op: str, draw: Draw) -> Arguments:
        """At the ends of the last one or two dimensions."""
        x = draw.tensor(draw.shape(2, 3), COMPLEX)
        pad = [draw.integer(0, 2) for _ in range(2 * draw.integer(1, 2))]
        return (x, pad, draw.choose((0, 1.5))), {}


class FillAsReal(IndexSelectAsReal):
    """Real and imaginary parts are filled apart, and put together as pairs."""

    name = "fill-as-real"
    replaces = ("aten::fill.Scalar",)
    summary = "Fill real and imaginary parts"
    spellings = ()
    replace = staticmethod(fill)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With a real number or a complex one."""
        return (draw.tensor(dtypes=COMPLEX), draw.choose((0, 1.5, 2 - 1j))), {}


class ConjOfParts(ConjAsReal):
    """Conjugates for targets that make complex numbers but do not view pairs as such.

    The second part is the real part of ``i`` times the number, which is ``-imag``.
    """

    name = "conj-of-parts"
    label = Label.TOLERANCE
    tolerance = 1.0
    replace = staticmethod(conj_of_parts)


class PolarOfParts(PolarAsReal):
    """``torch.complex`` puts cosines and sines together, on targets without views as pairs."""

    name = "polar-of-parts"
    replace = staticmethod(polar_of_parts)


def magnitude(self: Tensor) -> Tensor:
    """Take the root of the sum of both squares, in units of the larger; the gradient of 0 is 0."""
    parts = torch.view_as_real(self.resolve_conj())
    real, imag = parts.detach().abs().unbind(-1)
    unit = torch.where(real > imag, real, imag)
    unit = torch.where((unit > 0) & (unit < math.inf), unit, torch.ones_like(unit))
    parts = parts / unit.unsqueeze(-1)
    squares = (parts * parts).sum(-1)
    nothing = squares == 0
    root = torch.where(nothing, torch.ones_like(squares), squares).sqrt()
    return torch.where(nothing, squares, root) * unit


def absolute(input: Tensor) -> Tensor:
    """The magnitude; that of real numbers is left to torch."""
    return magnitude(input) if input.is_complex() else torch.abs(input)


class AbsByParts(Rule):
    """The root of the sum of the squares of the real and the imaginary part.

    Spectrograms ask this after ``stft``. Both parts are divided by the larger one first, so that
    no square overflows or vanishes. A dozen calls; where one part is infinite and the other NaN,
    this gives NaN and the original infinity.
    """

    name = "abs-by-parts"
    label = Label.TOLERANCE
    tolerance = 16.0
    replaces = ("aten::abs",)
    summary = "Take the root of the sum of both parts' squares"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.abs": absolute,
        "Tensor.abs": absolute,
        "torch.absolute": absolute,
        "Tensor.absolute": absolute,
    }
    replace = staticmethod(magnitude)

    def refuses(self, call: Call) -> str:
        """Real numbers, which have no parts."""
        x = call.given("self")
        return "" if x.dtype.is_complex else Sentence("{op} has no parts", op=x.dtype)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Zeros among them."""
        x = draw.tensor(dtypes=COMPLEX, edges=False)
        return (x * 0 if draw.integer(0, 5) == 5 else x,), {}
