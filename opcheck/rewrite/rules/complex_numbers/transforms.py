"""Fourier transforms as products with tables: what the operators become."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import COMPLEX, FLOATS, Draw
from opcheck.rewrite.rules.complex_numbers.fourier import (
    LARGEST,
    fft,
    fft2,
    fft_c2c,
    fft_c2c_by_parts,
    fft_c2r,
    fft_c2r_by_parts,
    fft_of_parts,
    fft_r2c,
    fft_r2c_by_parts,
    fftn,
    ifft,
    ifft2,
    ifft_of_parts,
    ifftn,
    irfft,
    irfft2,
    irfft_of_parts,
    irfftn,
    rfft,
    rfft2,
    rfft_of_parts,
    rfftn,
)


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
            return Sentence(
                "a transform is longer than {count}: its table would be too large", count=LARGEST
            )
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
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fft.fft": fft,
        "torch.fft.ifft": ifft,
        "torch.fft.fft2": fft2,
        "torch.fft.ifft2": ifft2,
        "torch.fft.fftn": fftn,
        "torch.fft.ifftn": ifftn,
        "torch.fft.rfft2": rfft2,
        "torch.fft.rfftn": rfftn,
        "torch.fft.irfft2": irfft2,
        "torch.fft.irfftn": irfftn,
    }
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
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fft.rfft": rfft,
        "torch.fft.rfft2": rfft2,
        "torch.fft.rfftn": rfftn,
        "torch.fft.fft": fft,
        "torch.fft.ifft": ifft,
        "torch.fft.fft2": fft2,
        "torch.fft.ifft2": ifft2,
        "torch.fft.fftn": fftn,
        "torch.fft.ifftn": ifftn,
    }
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
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fft.irfft": irfft,
        "torch.fft.irfft2": irfft2,
        "torch.fft.irfftn": irfftn,
    }
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
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fft.fft": fft_of_parts,
        "torch.fft.ifft": ifft_of_parts,
    }
    replace = staticmethod(fft_c2c_by_parts)


class RealFftByParts(RealFftByTables):
    """A transform by tables for targets that make complex numbers but do not view pairs as such.

    Real and imaginary parts are put together with ``torch.complex``.
    """

    name = "real-fft-by-tables-of-parts"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fft.rfft": rfft_of_parts,
        "torch.fft.fft": fft_of_parts,
        "torch.fft.ifft": ifft_of_parts,
    }
    replace = staticmethod(fft_r2c_by_parts)


class InverseRealFftByParts(InverseRealFftByTables):
    """A transform by tables for targets that have complex numbers but do not view them as pairs.

    Real parts are taken with ``real``, imaginary ones as the real parts of ``-i`` times the number.
    """

    name = "inverse-real-fft-by-tables-of-parts"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.fft.irfft": irfft_of_parts,
    }
    replace = staticmethod(fft_c2r_by_parts)
