"""Fourier transforms as products with tables of cosines and sines, in real arithmetic."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

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


def complex_to_complex(
    parts: tuple[Tensor, Tensor], dim: Sequence[int], normalization: int, forward: bool
) -> tuple[Tensor, Tensor]:
    """Transform pairs along one dimension after the other."""
    real, imag = parts
    for d in dim:
        real, imag = _turned(real, imag, d % real.dim(), -1.0 if forward else 1.0)
    scale = _scale(real, dim, normalization, real.size(dim[-1])) if dim else 1.0
    return real * scale, imag * scale


def real_to_complex(
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


def complex_to_real(
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
    return _number(*complex_to_complex(_pair(self), dim, normalization, forward))


def fft_r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    """Transform, and read pairs as numbers."""
    return _number(*real_to_complex(self, dim, normalization, onesided))


def fft_c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    """Read numbers as pairs, and transform."""
    return complex_to_real(_pair(self), dim, normalization, last_dim_size)


def fft_c2c_by_parts(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    """Take numbers apart, transform, and put them together."""
    return torch.complex(*complex_to_complex(_parts(self), dim, normalization, forward))


def fft_r2c_by_parts(
    self: Tensor, dim: Sequence[int], normalization: int, onesided: bool
) -> Tensor:
    """Transform, and put numbers together."""
    return torch.complex(*real_to_complex(self, dim, normalization, onesided))


def fft_c2r_by_parts(
    self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int
) -> Tensor:
    """Take numbers apart, and transform."""
    return complex_to_real(_parts(self), dim, normalization, last_dim_size)


def _sized(x: Tensor, sizes: Sequence[int | None], dims: Sequence[int]) -> Tensor:
    """Cut, or filled up with zeros behind, to the sizes that are given."""
    for d, size in zip(dims, sizes, strict=True):
        have = x.size(d)
        if size is not None and size not in (-1, have):
            around = [0] * (2 * (x.dim() - 1 - d % x.dim())) + [0, max(size - have, 0)]
            x = torch.constant_pad_nd(x.narrow(d, 0, min(size, have)), around)
    return x


def _dims(x: Tensor, s: Any, dim: Any) -> list[int]:
    """The dimensions that are asked for: those named, as many as there are sizes, or all."""
    if dim is not None:
        return [dim] if isinstance(dim, int) else list(dim)
    count = x.dim() if s is None else len(s)
    return list(range(x.dim() - count, x.dim()))


def _number_of(norm: str | None, inverse: bool) -> int:
    back = 2 if inverse else 0
    return {None: back, "backward": back, "ortho": 1, "forward": 2 - back}[norm]


def _split(x: Tensor, views: bool) -> tuple[Tensor, Tensor]:
    """Real and imaginary parts, those of real numbers as well."""
    if x.is_complex():
        return _pair(x) if views else _parts(x)
    real = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    return real, torch.zeros_like(real)


def _joined(parts: tuple[Tensor, Tensor], views: bool) -> Tensor:
    return _number(*parts) if views else torch.complex(*parts)


def _full(x: Tensor, s: Any, dim: Any, norm: str | None, inverse: bool, views: bool) -> Tensor:
    """All of a transform, of complex or of real numbers."""
    dims = _dims(x, s, dim)
    sizes = [None] * len(dims) if s is None else s
    real, imag = (_sized(part, sizes, dims) for part in _split(x, views))
    number = _number_of(norm, inverse)
    return _joined(complex_to_complex((real, imag), dims, number, not inverse), views)


def _half(x: Tensor, s: Any, dim: Any, norm: str | None, views: bool) -> Tensor:
    """The half of a transform of real numbers that says all."""
    dims = _dims(x, s, dim)
    x = _sized(_split(x, views)[0], [None] * len(dims) if s is None else s, dims)
    return _joined(real_to_complex(x, dims, _number_of(norm, False), True), views)


def _back(x: Tensor, s: Any, dim: Any, norm: str | None, views: bool) -> Tensor:
    """Real numbers from the half of their transform."""
    dims = _dims(x, s, dim)
    sizes = [None] * len(dims) if s is None else list(s)
    last = sizes[-1] if sizes[-1] not in (None, -1) else 2 * (x.size(dims[-1]) - 1)
    sizes[-1] = last // 2 + 1
    real, imag = (_sized(part, sizes, dims) for part in _split(x, views))
    return complex_to_real((real, imag), dims, _number_of(norm, True), last)


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform."""
    return _full(input, None if n is None else [n], dim, norm, False, True)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform back."""
    return _full(input, None if n is None else [n], dim, norm, True, True)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform real numbers."""
    return _half(input, None if n is None else [n], dim, norm, True)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform back to real numbers."""
    return _back(input, None if n is None else [n], dim, norm, True)


def fft2(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform, of images."""
    return _full(input, s, dim, norm, False, True)


def ifft2(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform back, of images."""
    return _full(input, s, dim, norm, True, True)


def rfft2(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform real numbers, of images."""
    return _half(input, s, dim, norm, True)


def irfft2(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform back to real numbers, of images."""
    return _back(input, s, dim, norm, True)


def fftn(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform, along several dimensions."""
    return _full(input, s, dim, norm, False, True)


def ifftn(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform back, along several dimensions."""
    return _full(input, s, dim, norm, True, True)


def rfftn(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform real numbers, along several dimensions."""
    return _half(input, s, dim, norm, True)


def irfftn(
    input: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> Tensor:  # fmt: skip
    """Transform back to real numbers, along several dimensions."""
    return _back(input, s, dim, norm, True)


def fft_of_parts(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Transform."""
    return _full(input, None if n is None else [n], dim, norm, False, False)


def ifft_of_parts(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Transform back."""
    return _full(input, None if n is None else [n], dim, norm, True, False)


def rfft_of_parts(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Transform real numbers."""
    return _half(input, None if n is None else [n], dim, norm, False)


def irfft_of_parts(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Transform back to real numbers."""
    return _back(input, None if n is None else [n], dim, norm, False)
