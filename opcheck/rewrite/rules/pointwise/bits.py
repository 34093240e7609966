"""What floating-point numbers are made of, read from and written to their bits."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import REFERENCES, Pointwise
from opcheck.rewrite.draw import FLOATS, INTEGERS

_BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}
_SIZE = {torch.float64: 64, torch.float32: 32, torch.float16: 16, torch.bfloat16: 16}
_MANTISSA = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}


def _bits(x: Tensor) -> Tensor:
    return x.detach().contiguous().view(_BITS[x.dtype])


class _Known(torch.autograd.Function):
    """A function whose derivatives are given."""

    @staticmethod
    def forward(ctx: Any, function: Any, slopes: Any, *tensors: Tensor) -> Tensor:
        """Compute the function."""
        result: Tensor = function(*tensors)
        ctx.save_for_backward(*tensors, result)
        ctx.slopes = slopes
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Multiply by each derivative."""
        return None, None, *(grad * slope for slope in ctx.slopes(*ctx.saved_tensors))


def signbit(self: Tensor) -> Tensor:
    """Whether the bits are a negative integer."""
    if self.dtype in (torch.bool, torch.uint8):
        return torch.zeros_like(self, dtype=torch.bool)
    return (_bits(self) if self.is_floating_point() else self) < 0


def copysign(self: Tensor, other: Tensor | float) -> Tensor:
    """Turn around what has the other sign."""
    dtype = torch.result_type(self, other)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    sign = torch.as_tensor(other, dtype=dtype, device=self.device)
    x, y = torch.broadcast_tensors(self.to(dtype), sign)
    found: Tensor = _Known.apply(_signed, _signed_slopes, x, y)  # type: ignore[no-untyped-call]
    return found


def _signed(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(signbit(x) == signbit(y), x, -x)


def _signed_slopes(x: Tensor, y: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
    none = torch.zeros_like(y)
    return torch.where(x == 0, none, result / x), none


def nextafter(self: Tensor, other: Tensor) -> Tensor:
    """Count one on in the order of the numbers, which is that of their bits."""
    dtype = torch.result_type(self, other)
    x, y = torch.broadcast_tensors(self.to(dtype), other.to(dtype))
    found: Tensor = _Known.apply(_next, _next_slopes, x, y)  # type: ignore[no-untyped-call]
    return found


def _next(x: Tensor, y: Tensor) -> Tensor:
    dtype, bits = x.dtype, _bits(x)
    moved = torch.where((y > x) == (x > 0), bits + 1, bits - 1)
    least = torch.ones_like(bits)  # the bits of the smallest number there is
    started = torch.where(y > 0, least, least + torch.iinfo(bits.dtype).min)
    found = torch.where(x == 0, started, moved).view(dtype)
    return torch.where(x == y, y, torch.where((x != x) | (y != y), x + y, found))


def _next_slopes(x: Tensor, y: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
    return (x != y).to(x.dtype), torch.zeros_like(y)


def frexp(self: Tensor) -> tuple[Tensor, Tensor]:
    """Part the bits: the exponent as a number, the rest with one between a half and 1."""
    halves: Tensor = _Halves.apply(self)  # type: ignore[no-untyped-call]
    return halves, _parted(self.detach())[1]


def frexp_pair(input: Tensor) -> Any:
    """Part the bits."""
    return torch.return_types.frexp(frexp(input))


class _Halves(torch.autograd.Function):
    """What is left of numbers without their powers of 2."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Take the power away."""
        halves = _parted(x)[0]
        ctx.save_for_backward(x, halves)
        return halves

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Divide by the power."""
        x, halves = ctx.saved_tensors
        wide = x.float() if x.dtype == torch.float16 else x  # its largest power is no half
        power = (wide / halves).float()
        return grad / torch.where(power == power, power, torch.ones_like(power))


def _parted(x: Tensor) -> tuple[Tensor, Tensor]:
    width = _MANTISSA[x.dtype]
    field, low = 2 ** (_SIZE[x.dtype] - width - 1) - 1, torch.finfo(x.dtype).smallest_normal
    small = (x < low) & (x > -low)
    bits = _bits(torch.where(small, x * 2.0 ** (width + 1), x))
    power = torch.div(bits, 2**width, rounding_mode="floor") & field
    still = (x == 0) | (power == field)
    middle = field // 2
    halves = torch.where(still, bits, bits + (middle - 1 - power) * 2**width).view(x.dtype)
    exponent = power.to(torch.int32) - (middle - 1) - small.to(torch.int32) * (width + 1)
    return halves, torch.where(still, torch.zeros_like(exponent), exponent)


class SignbitByBits(Pointwise):
    """A number has its sign bit set where its bits, read as an integer, are negative.

    Reading the bits is a view; -0.0 and NaN with a sign count as in the original.
    """

    name = "signbit-by-bits"
    label = Label.EXACT
    dtypes: ClassVar[tuple[torch.dtype, ...]] = (*FLOATS, *INTEGERS, torch.bool)
    replaces: ClassVar[tuple[str, ...]] = ("aten::signbit",)
    summary = "Read the bits as an integer and ask whether it is negative"
    spellings: ClassVar[tuple[str, ...]] = ("torch.signbit", "Tensor.signbit")
    references = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(signbit)


class CopysignByBits(SignbitByBits):
    """A number is turned around where its sign bit is not that of the other number.

    Sign bits are read as in ``signbit-by-bits``; where the number is 0, its gradient is 0.
    """

    name = "copysign-by-bits"
    count = 2
    dtypes = (*FLOATS, *INTEGERS)
    replaces = ("aten::copysign.Tensor",)
    summary = "Turn around what has the other sign bit"
    spellings = ("torch.copysign", "Tensor.copysign")
    replace = staticmethod(copysign)


class NextafterByBits(SignbitByBits):
    """The next number has the next bits: away from 0 one more, towards 0 one less.

    Next to 0 is the smallest number that the dtype has.
    """

    name = "nextafter-by-bits"
    count = 2
    dtypes = FLOATS
    replaces = ("aten::nextafter",)
    summary = "Add 1 to the bits, or take it away"
    spellings = ("torch.nextafter", "Tensor.nextafter")
    replace = staticmethod(nextafter)


class FrexpByBits(SignbitByBits):
    """The exponent is read from the bits, and replaced in them by that of one half.

    Numbers too small for an exponent of their own are multiplied by a power of 2 first.
    """

    name = "frexp-by-bits"
    dtypes = FLOATS
    replaces = ("aten::frexp.Tensor",)
    summary = "Read the exponent from the bits, and write that of one half there"
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.frexp": frexp_pair,
        "Tensor.frexp": frexp_pair,
    }
    replace = staticmethod(frexp)
