"""Fourier transforms as products with tables of cosines and sines, in real arithmetic."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import COMPLEX, FLOATS, Draw

LARGEST = 2048
"""Longest transform: its tables take ``2 * n * n`` elements, and its products as many steps."""


def _tables(like: Tensor, rows: int, columns: int, size: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of ``2 pi j k / size``; turns are counted in whole numbers, exactly."""
    j = torch.arange(rows, dtype=like.dtype, device=like.device).unsqueeze(-1)
    k = torch.arange(columns, dtype=like.dtype, device=like.device)
    steps = j * k
    steps = steps - size * (steps / size).floor()
    angle = torch.where(steps > size / 2, steps - size, steps) * (2 * math.pi / size)
    return angle.cos(), angle.sin()


def _scale(self: Tensor, dim: Sequence[int], normalization: int, last: int) -> float:
    """What results are multiplied by: 1, over the root of all sizes, or over them."""
    sizes = [self.size(d) for d in dim[:-1]]
    count = math.prod(sizes) * last
    return (1.0, 1 / math.sqrt(count), 1 / count)[normalization]


def _turned(real: Tensor, imag: Tensor, dim: int, sign: float) -> tuple[Tensor, Tensor]:
    """Transform pairs along one dimension."""
    real, imag = real.movedim(dim, -1), imag.movedim(dim, -1)
    size = real.size(-1)
    cosine, sine = _tables(real, size, size, size)
    sine = sine * sign
    turned = real @ cosine - imag @ sine, real @ sine + imag @ cosine
    return turned[0].movedim(-1, dim), turned[1].movedim(-1, dim)


def _number(real: Tensor, imag: Tensor) -> Tensor:
    return torch.view_as_complex(torch.stack([real, imag], -1))


def _pair(self: Tensor) -> tuple[Tensor, Tensor]:
    pairs = torch.view_as_real(self.resolve_conj())
    return pairs[..., 0], pairs[..., 1]


def _parts(self: Tensor) -> tuple[Tensor, Tensor]:
    """Real and imaginary parts; the latter are what a quarter turn makes real."""
    return self.real, (self * -1j).real


def _complex_to_complex(
    parts: tuple[Tensor, Tensor], dim: Sequence[int], normalization: int, forward: bool
) -> tuple[Tensor, Tensor]:
    """Transform pairs along one dimension after the other."""
    real, imag = parts
    for d in dim:
        real, imag = _turned(real, imag, d % real.dim(), -1.0 if forward else 1.0)
    scale = _scale(real, dim, normalization, real.size(dim[-1])) if dim else 1.0
    return real * scale, imag * scale


def _real_to_complex(
    self: Tensor, dim: Sequence[int], normalization: int, onesided: bool
) -> tuple[Tensor, Tensor]:
    """Transform real numbers along the last of the dimensions, then pairs along the others."""
    last, size = dim[-1] % self.dim(), self.size(dim[-1])
    rows = self.movedim(last, -1)
    cosine, sine = _tables(rows, size, size // 2 + 1 if onesided else size, size)
    real, imag = (rows @ cosine).movedim(-1, last), -(rows @ sine).movedim(-1, last)
    for d in dim[:-1]:
        real, imag = _turned(real, imag, d % self.dim(), -1.0)
    scale = _scale(self, dim, normalization, size)
    return real * scale, imag * scale


def _complex_to_real(
    parts: tuple[Tensor, Tensor], dim: Sequence[int], normalization: int, size: int
) -> Tensor:
    """Transform pairs along all dimensions but the last, then half of them to real numbers.

    Every pair but the first, and for an even size the last, stands for two.
    """
    real, imag = parts
    scale = _scale(real, dim, normalization, size)
    last = dim[-1] % real.dim()
    for d in dim[:-1]:
        real, imag = _turned(real, imag, d % real.dim(), 1.0)
    half = size // 2 + 1
    real, imag = real.movedim(last, -1)[..., :half], imag.movedim(last, -1)[..., :half]
    cosine, sine = _tables(real, half, size, size)
    place = torch.arange(half, device=real.device).unsqueeze(-1)
    twice = torch.where((place == 0) | (place * 2 == size), 1.0, 2.0).to(real.dtype)
    made = real @ (cosine * twice) - imag @ (sine * twice)
    return made.movedim(-1, last) * scale


def fft_c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    """Read numbers as pairs, transform, and read pairs as numbers."""
    return _number(*_complex_to_complex(_pair(self), dim, normalization, forward))


def fft_r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    """Transform, and read pairs as numbers."""
    return _number(*_real_to_complex(self, dim, normalization, onesided))


def fft_c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    """Read numbers as pairs, and transform."""
    return _complex_to_real(_pair(self), dim, normalization, last_dim_size)


def fft_c2c_by_parts(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    """Take numbers apart, transform, and put them together."""
    return torch.complex(*_complex_to_complex(_parts(self), dim, normalization, forward))


def fft_r2c_by_parts(
    self: Tensor, dim: Sequence[int], normalization: int, onesided: bool
) -> Tensor:
    """Transform, and put numbers together."""
    return torch.complex(*_real_to_complex(self, dim, normalization, onesided))


def fft_c2r_by_parts(
    self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int
) -> Tensor:
    """Take numbers apart, and transform."""
    return _complex_to_real(_parts(self), dim, normalization, last_dim_size)


class _ByTables(Rule):
    """What rules of this file share: float32 and float64, and no long transforms."""

    label = Label.TOLERANCE
    tolerance = 256.0
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/issues/31317",
        "https://github.com/pytorch/pytorch/issues/112382",
    )

    def refuses(self, call: Call) -> str:
        """Decline half precision, and transforms that are too long or empty."""
        given = call.args[0]
        if given.dtype not in (*FLOATS[:2], *COMPLEX):
            return "the numbers are of half precision"
        sizes = [given.size(d) for d in call.args[1]]
        if any(size > LARGEST for size in (*sizes, call.given("last_dim_size", 0))):
            return f"a transform is longer than {LARGEST}: its table would be too large"
        return "" if all(sizes) else "a transform has no elements"

    def numbers(self, draw: Draw, dtypes: Sequence[torch.dtype]) -> tuple[Tensor, list[int]]:
        """Draw numbers and dimensions."""
        x = draw.tensor(draw.shape(1, 3, smallest=1, largest=6), dtypes, edges=False)
        first = draw.integer(0, x.dim() - 1)
        return x, [*range(first + 1, x.dim()), first] if draw.flag() else [first]


class FftByTables(_ByTables):
    """A transform along one dimension is a product with a table of cosines and one of sines.

    The tables are made anew by every call, in ten calls; a transform of n numbers takes ``4 n``
    products for each instead of about ``5 log n``, on units that multiply matrices fast. Those
    that round to less than float32 (TF32, HF32) lose digits here as in any product. Complex
    numbers are read, and written, as pairs: the target needs views as real and as complex.
    """

    name = "fft-by-tables"
    replaces: ClassVar[tuple[str, ...]] = ("aten::_fft_c2c",)
    summary = "Multiply with tables of cosines and sines"
    replace: ClassVar[Callable[..., Any]] = staticmethod(fft_c2c)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along one dimension or several, forth and back."""
        x, dim = self.numbers(draw, COMPLEX)
        return (x, dim, draw.integer(0, 2), draw.flag()), {}


class RealFftByTables(_ByTables):
    """Real numbers are multiplied with a table of cosines and one of sines.

    The tables are half as wide if half of the result is asked for; pairs are transformed along
    further dimensions. They are made anew by every call, in ten calls; a model that makes many,
    with one size, should keep them. The result is complex: where the target has no complex
    numbers, write the two products in the model and keep real and imaginary parts apart.
    """

    name = "real-fft-by-tables"
    replaces = ("aten::_fft_r2c",)
    summary = "Multiply with tables of cosines and sines"
    replace = staticmethod(fft_r2c)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along one dimension or several, half of the result or all."""
        x, dim = self.numbers(draw, FLOATS[:2])
        return (x, dim, draw.integer(0, 2), draw.flag()), {}


class InverseRealFftByTables(_ByTables):
    """Real and imaginary parts are multiplied with tables of cosines and sines, and subtracted.

    Of half a transform, all pairs but the first, and for an even size the last, count twice.
    """

    name = "inverse-real-fft-by-tables"
    replaces = ("aten::_fft_c2r",)
    summary = "Multiply with tables of cosines and sines"
    replace = staticmethod(fft_c2r)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along one dimension or several, to an even or an odd size."""
        x, dim = self.numbers(draw, COMPLEX)
        half = x.size(dim[-1])
        return (x, dim, draw.integer(0, 2), max(1, 2 * (half - 1) + draw.integer(0, 1))), {}


class FftByParts(FftByTables):
    """A transform by tables for targets that make complex numbers but do not view pairs as such.

    Real parts are taken with ``real``, imaginary ones as the real parts of ``-i`` times the number;
    ``torch.complex`` puts both together.
    """

    name = "fft-by-tables-of-parts"
    replace = staticmethod(fft_c2c_by_parts)


class RealFftByParts(RealFftByTables):
    """A transform by tables for targets that make complex numbers but do not view pairs as such.

    Real and imaginary parts are put together with ``torch.complex``.
    """

    name = "real-fft-by-tables-of-parts"
    replace = staticmethod(fft_r2c_by_parts)


class InverseRealFftByParts(InverseRealFftByTables):
    """A transform by tables for targets that have complex numbers but do not view them as pairs.

    Real parts are taken with ``real``, imaginary ones as the real parts of ``-i`` times the number.
    """

    name = "inverse-real-fft-by-tables-of-parts"
    replace = staticmethod(fft_c2r_by_parts)
