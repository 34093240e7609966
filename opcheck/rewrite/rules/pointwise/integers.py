"""Integers without their kernels: common divisors and multiples, shifts, exclusive or."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import MATH, REFERENCES, Arguments, Pointwise, broadcast
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, INTEGERS, Draw


def gcd(self: Tensor, other: Tensor) -> Tensor:
    """Euclid's steps, as many as any pair can need."""
    dtype = torch.result_type(self, other)
    a, b = torch.broadcast_tensors(self.to(dtype).abs(), other.to(dtype).abs())
    for _ in range(_steps(dtype)):
        done = a == 0
        rest: Tensor = b % torch.where(done, torch.ones_like(a), a)
        a, b = torch.where(done, a, rest), torch.where(done, b, a)
    found: Tensor = b.clone()
    return found


def lcm(self: Tensor, other: Tensor) -> Tensor:
    """The product over the greatest common divisor, which small integers widen for."""
    common = gcd(self, other)
    dtype = common.dtype
    wide = dtype if dtype in (torch.int32, torch.int64) else torch.int32
    divisor = torch.where(common == 0, torch.ones_like(common), common).to(wide)
    part = torch.div(self.to(dtype).to(wide), divisor, rounding_mode="floor")
    return (part * other.to(dtype).to(wide)).abs().to(dtype)


def _steps(dtype: torch.dtype) -> int:
    """One more than Fibonacci numbers that the dtype holds."""
    steps, small, large = 1, 1, 2
    while small <= torch.iinfo(dtype).max + 1:
        steps, small, large = steps + 1, large, small + large
    return steps + 1


def bitwise_left_shift(self: Tensor | int, other: Tensor | int) -> Tensor:
    """Multiply by the power of 2, which overflows as bits are pushed out."""
    x, places, size = _shifted(self, other)
    return torch.where((places < 0) | (places >= size), torch.zeros_like(x), x * _power(places))


def bitwise_right_shift(self: Tensor | int, other: Tensor | int) -> Tensor:
    """Divide by the power of 2 and round down."""
    x, places, size = _shifted(self, other)
    most = size if x.dtype == torch.uint8 else size - 1
    far = (places < 0) | (places >= most)
    divisor = torch.where(far, torch.ones_like(x), _power(torch.where(far, 0, places)))
    left = torch.where(x < 0, torch.full_like(x, -1), torch.zeros_like(x)) if most < size else x * 0
    return torch.where(far, left, torch.div(x, divisor, rounding_mode="floor"))


def _shifted(self: Tensor | int, other: Tensor | int) -> tuple[Tensor, Tensor, int]:
    dtype = torch.result_type(self, other)
    device = (self if isinstance(self, Tensor) else torch.as_tensor(other)).device
    both = (torch.as_tensor(given, dtype=dtype, device=device) for given in (self, other))
    x, places = torch.broadcast_tensors(*both)
    return x, places, torch.iinfo(dtype).bits


def _power(places: Tensor) -> Tensor:
    """2 to that power, put together from the bits of the exponent."""
    power, one = torch.ones_like(places), torch.ones_like(places)
    for bit in range(6):
        factor = torch.where((places & (1 << bit)) != 0, one + one, one)
        for _ in range(bit):
            factor = factor * factor
        power = power * factor
    return power


def bitwise_xor(self: Tensor, other: Tensor | int) -> Tensor:
    """Bits that are in either less those that are in both."""
    if torch.result_type(self, other) == torch.bool:
        return self != other
    return (self | other) - (self & other)


def remainder(self: Tensor, other: Tensor | int) -> Tensor:
    """What is left of a number once the quotient, rounded down, is taken away."""
    found: Tensor = self - torch.div(self, other, rounding_mode="floor") * other
    return found


def logical_xor(self: Tensor, other: Tensor) -> Tensor:
    """Whether one is 0 and the other is not."""
    return (self != 0) != (other != 0)


def logical_or(self: Tensor, other: Tensor) -> Tensor:
    """Whether either is not 0."""
    return (self != 0) | (other != 0)


class GcdByEuclid(Pointwise):
    """Euclid's algorithm with as many steps as two consecutive Fibonacci numbers take.

    That is 93 for int64, 47 for int32 and 24 for int16, with five calls each; pairs that are done
    stand still. All but the most negative number, which has no absolute value, is exact.
    """

    name = "gcd-by-euclid"
    label = Label.APPROXIMATE
    tolerance = 0.0
    gives_up = "the most negative number of a dtype may give the other sign"
    replaces: ClassVar[tuple[str, ...]] = ("aten::gcd",)
    summary = "Take the rest of a division again and again"
    spellings: ClassVar[tuple[str, ...]] = ("torch.gcd", "Tensor.gcd")
    references: ClassVar[tuple[str, ...]] = (MATH,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(gcd)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one dtype or of two, broadcast; some are large."""
        shape = draw.shape(0, 2)
        a = draw.tensor(shape, INTEGERS)
        b = draw.tensor(broadcast(draw, shape), INTEGERS)
        return (a * draw.choose((1, 12, 10946)), b * draw.choose((1, 6, 17711))), {}


class LcmByEuclid(GcdByEuclid):
    """The product of both over their greatest common divisor, found by Euclid's algorithm."""

    name = "lcm-by-euclid"
    replaces = ("aten::lcm",)
    summary = "Divide one number by the greatest common divisor and multiply by the other"
    spellings = ("torch.lcm", "Tensor.lcm")
    replace = staticmethod(lcm)


class LeftShiftByMultiplying(GcdByEuclid):
    """A power of 2, put together from the bits of the shift, times the number.

    Integers overflow as bits are pushed out; a shift by more bits than there are gives 0.
    """

    name = "left-shift-by-multiplying"
    label = Label.EXACT
    gives_up = ""
    replaces: ClassVar[tuple[str, ...]] = ("aten::bitwise_left_shift.Tensor",)
    summary = "Multiply by a power of 2"
    spellings: ClassVar[tuple[str, ...]] = (
        "torch.bitwise_left_shift", "Tensor.bitwise_left_shift"
    )  # fmt: skip
    references = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(bitwise_left_shift)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one dtype or of two, broadcast; some shifts are too far or negative."""
        shape = draw.shape(0, 2)
        x = draw.tensor(shape, INTEGERS)
        by = draw.tensor(broadcast(draw, shape), INTEGERS)
        return (x * draw.choose((1, 100)), by * draw.choose((1, 7))), {}


class RightShiftByDividing(LeftShiftByMultiplying):
    """The number over a power of 2, rounded down; a shift by all bits leaves the sign."""

    name = "right-shift-by-dividing"
    replaces = ("aten::bitwise_right_shift.Tensor",)
    summary = "Divide by a power of 2 and round down"
    spellings = ("torch.bitwise_right_shift", "Tensor.bitwise_right_shift")
    replace = staticmethod(bitwise_right_shift)


class BitwiseXorByOr(LeftShiftByMultiplying):
    """``(a | b) - (a & b)``: bits of either less those of both; of truth values, ``a != b``."""

    name = "bitwise-xor-by-or"
    replaces = ("aten::bitwise_xor.Tensor",)
    summary = "Write (a | b) - (a & b)"
    spellings = ("torch.bitwise_xor", "Tensor.bitwise_xor")
    replace: ClassVar[Callable[..., Any]] = staticmethod(bitwise_xor)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Integers and truth values."""
        shape, dtypes = draw.shape(0, 3), (torch.bool, *INTEGERS)
        return (draw.tensor(shape, dtypes), draw.tensor(broadcast(draw, shape), dtypes)), {}


class LogicalXorByComparing(BitwiseXorByOr):
    """``(a != 0) != (b != 0)``."""

    name = "logical-xor-by-comparing"
    replaces = ("aten::logical_xor",)
    summary = "Write (a != 0) != (b != 0)"
    spellings = ("torch.logical_xor", "Tensor.logical_xor")
    replace = staticmethod(logical_xor)

    def refuses(self, call: Call) -> str:
        """Take every dtype."""
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of every dtype."""
        shape = draw.shape(0, 3)
        return (draw.tensor(shape, ANY), draw.tensor(broadcast(draw, shape), ANY)), {}


class LogicalOrByComparing(LogicalXorByComparing):
    """``(a != 0) | (b != 0)``."""

    name = "logical-or-by-comparing"
    replaces = ("aten::logical_or",)
    summary = "Write (a != 0) | (b != 0)"
    spellings = ("torch.logical_or", "Tensor.logical_or")
    replace = staticmethod(logical_or)


class RemainderByDividing(LeftShiftByMultiplying):
    """``a - floor(a / b) * b``, of integers, whose quotient is exact.

    A quotient that is too large for the dtype wraps round, and so does what is taken away.
    """

    name = "remainder-by-dividing"
    replaces: ClassVar[tuple[str, ...]] = ("aten::remainder.Scalar", "aten::remainder.Tensor")
    summary = "Divide, round down, and take the product away"
    spellings = ("torch.remainder", "Tensor.remainder")
    references = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(remainder)

    def refuses(self, call: Call) -> str:
        """Decline all but integers, of which none is 0 where that can be seen."""
        x, other = call.given("self"), call.given("other")
        if torch.result_type(x, other) not in INTEGERS:
            return "the numbers are no integers"
        return "the divisor is 0" if isinstance(other, int) and not other else ""

    def valid(self, call: Call) -> Call:
        """Make every divisor another number than 0."""
        x, other, *rest = call.args
        if isinstance(other, Tensor):
            other = torch.where(other == 0, torch.ones_like(other), other)
        return Call(call.func, (x, other, *rest), call.kwargs)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of one dtype or of two, broadcast, of either sign."""
        shape = draw.shape(0, 3)
        x = draw.tensor(shape, INTEGERS)
        if op.endswith("Scalar"):
            return (x * draw.choose((1, 11)), draw.choose((1, 2, 7, 100, -1, -3))), {}
        y = draw.tensor(broadcast(draw, shape), INTEGERS)
        return (x * draw.choose((1, 11)), y), {}
