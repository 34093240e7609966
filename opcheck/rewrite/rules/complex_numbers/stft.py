"""``stft`` and ``istft`` by products with tables of cosines and sines."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 2048
"""Longest frame: its tables take ``n * n`` elements."""


def _tables(like: Tensor, size: int, columns: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of ``2 pi j k / size``; turns are counted in whole numbers, exactly."""
    j = torch.arange(size, dtype=like.dtype, device=like.device).unsqueeze(-1)
    k = torch.arange(columns, dtype=like.dtype, device=like.device)
    steps = j * k
    steps = steps - size * (steps / size).floor()
    angle = torch.where(steps > size / 2, steps - size, steps) * (2 * math.pi / size)
    return angle.cos(), angle.sin()


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Cut frames, and multiply them with tables that the window is part of."""
    rows = self.reshape(-1, 1, self.size(-1))
    if center:
        rows = torch.nn.functional.pad(rows, (n_fft // 2, n_fft // 2), pad_mode)
    frames = rows.squeeze(1).unfold(-1, n_fft, hop_length or n_fft // 4)
    half = n_fft // 2 + 1 if onesided is not False else n_fft
    cosine, sine = _tables(self, n_fft, half)
    length = win_length or n_fft
    if window is None:
        window = torch.ones(length, dtype=self.dtype, device=self.device)
    left = (n_fft - length) // 2
    weights = torch.nn.functional.pad(window, (left, n_fft - length - left)).unsqueeze(-1)
    scale = 1 / math.sqrt(n_fft) if normalized else 1.0
    real, imag = frames @ (cosine * weights * scale), frames @ (-sine * weights * scale)
    made = torch.stack([real, imag], -1).transpose(1, 2)
    made = made.squeeze(0) if self.dim() == 1 else made
    return torch.view_as_complex(made.contiguous()) if return_complex else made


def stft_of_padded(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Cut frames, and multiply them with tables that the window is part of."""
    return stft(
        self, n_fft, hop_length, win_length, window, False, "reflect",
        normalized, onesided, return_complex, align_to_window,
    )  # fmt: skip


class StftByTables(Rule):
    """Frames are multiplied with a table of cosines and one of sines that hold the window.

    Where the result is asked for in real pairs (``return_complex=False``), no complex number is
    made on the way; else the pairs are read as complex numbers in the end. The tables are made
    anew by every call; a model that calls it often should keep them, as the weights of a
    convolution with ``hop_length`` as its stride, which is the same product without frames.
    """

    name = "stft-by-tables"
    label = Label.TOLERANCE
    tolerance = 256.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::stft.center",)
    summary = "Multiply frames with windowed tables of cosines and sines"
    references = (
        "https://github.com/pytorch/pytorch/issues/31317",
        "https://github.com/pytorch/audio/issues/982",
    )
    spellings: ClassVar[tuple[str, ...]] = ("torch.stft", "Tensor.stft")
    replace: ClassVar[Callable[..., Any]] = staticmethod(stft)

    def refuses(self, call: Call) -> str:
        """Decline complex signals and windows, half precision, and long frames."""
        window = call.given("window")
        if call.args[0].dtype not in FLOATS[:2]:
            return "the signal is not of float32 or float64"
        if window is not None and window.dtype is not call.args[0].dtype:
            return "the window is of another dtype"
        if call.given("align_to_window") is not None:
            return "frames are aligned to the window"
        size = call.given("n_fft")
        return "" if size <= LARGEST else Sentence("a frame is longer than {count}", count=LARGEST)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One signal or several, with or without padding, a window, half of the result."""
        size, dtype = draw.integer(2, 8), draw.choose(FLOATS[:2])
        shape = [*([draw.integer(1, 3)] if draw.flag() else []), draw.integer(size, 20)]
        length = draw.integer(1, size)
        window = draw.tensor([length], (dtype,), edges=False) if draw.flag() else None
        named: dict[str, Any] = {
            "hop_length": draw.choose((None, 1, 3)) if size > 3 else 1,
            "win_length": length,
            "window": window,
            "center": draw.flag(),
            "pad_mode": draw.choose(("reflect", "constant")),
            "normalized": draw.flag(),
            "onesided": draw.choose((None, True, False)),
            "return_complex": draw.flag(),
        }
        return (draw.tensor(shape, (dtype,), edges=False), size), named


class StftOfPaddedByTables(StftByTables):
    """The same for a signal that is padded already, as ``torch.stft`` passes it on.

    In a source it is the whole of ``torch.stft`` that is replaced, its padding included.
    """

    name = "stft-of-padded-by-tables"
    replaces = ("aten::stft",)
    replace = staticmethod(stft_of_padded)
    spellings = ()
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.stft": stft, "Tensor.stft": stft
    }  # fmt: skip

    def example(self, op: str, draw: Draw) -> Arguments:
        """One signal or several, a window, half of the result."""
        args, named = super().example(op, draw)
        return args, {n: v for n, v in named.items() if n not in ("center", "pad_mode")}


def _inverse_tables(like: Tensor, size: int, half: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of ``2 pi j k / size``, as often as each number of a half stands."""
    j = torch.arange(half, dtype=like.dtype, device=like.device).unsqueeze(-1)
    k = torch.arange(size, dtype=like.dtype, device=like.device)
    steps = j * k
    steps = steps - size * (steps / size).floor()
    angle = torch.where(steps > size / 2, steps - size, steps) * (2 * math.pi / size)
    twice = torch.where((j == 0) | (j * 2 == size), torch.ones_like(j), 2 * torch.ones_like(j))
    return angle.cos() * twice, angle.sin() * twice


def istft_of_parts(
    self: tuple[Tensor, Tensor],
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Lay frames over each other: each is a sum of cosines and sines that hold the window."""
    real, imag = self
    one = real.dim() == 2
    if one:
        real, imag = real.unsqueeze(0), imag.unsqueeze(0)
    hop, wide, half = hop_length or n_fft // 4, win_length or n_fft, n_fft // 2 + 1
    if window is None:
        window = torch.ones(wide, dtype=real.dtype, device=real.device)
    left = (n_fft - wide) // 2
    weights = torch.nn.functional.pad(window, (left, n_fft - wide - left))
    cosine, sine = _inverse_tables(real, n_fft, half)
    scaled = weights / (math.sqrt(n_fft) if normalized else n_fft)
    lay = torch.nn.functional.conv_transpose1d
    made = lay(real[:, :half], (cosine * scaled).unsqueeze(1), stride=hop)
    made = made - lay(imag[:, :half], (sine * scaled).unsqueeze(1), stride=hop)
    ones = torch.ones_like(real[:1, :1])
    under = lay(ones, (weights * weights).reshape(1, 1, -1), stride=hop)
    full = n_fft + hop * (real.size(-1) - 1)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else full - start
    signal = (made[..., start:end] / under[..., start:end]).squeeze(1)
    if end > full:
        signal = torch.nn.functional.pad(signal, (0, end - full))
    return signal.squeeze(0) if one else signal


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Read numbers as pairs, and lay their frames over each other."""
    pairs = torch.view_as_real(self.resolve_conj())
    return istft_of_parts(
        (pairs[..., 0], pairs[..., 1]), n_fft, hop_length, win_length, window, center, normalized,
        onesided, length, return_complex,
    )  # fmt: skip


class IstftByTables(Rule):
    """Two transposed convolutions, with tables of cosines and of sines that hold the window.

    They transform every frame back and add frames up where they lie over each other; the sum of
    squared windows, by which it is divided, is a third. The tables are made anew by every call. A
    window under which some place of the signal has no weight is an error in the original; here
    that place is NaN or infinite.
    """

    name = "istft-by-tables"
    label = Label.TOLERANCE
    tolerance = 4096.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::istft",)
    summary = "Lay frames over each other by transposed convolutions"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/SpectralOps.cpp",
    )
    replace = staticmethod(istft)

    def refuses(self, call: Call) -> str:
        """Decline complex signals and windows, and long frames."""
        window = call.given("window")
        if call.given("return_complex") or (window is not None and window.is_complex()):
            return "the signal is complex"
        if call.given("n_fft") > LARGEST:
            return Sentence(
                "a frame is longer than {count}: its table would be too large", count=LARGEST
            )
        given = call.args[0]
        if given.dtype not in (torch.complex64, torch.complex128):
            return "the numbers are of half precision"
        return "" if given.numel() else "there are no frames"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Frames that lie over each other by half or more, under a window that is nowhere 0."""
        n_fft = draw.integer(4, 9)
        hop = draw.integer(1, n_fft // 2)
        onesided = draw.flag()
        lines = n_fft // 2 + 1 if onesided else n_fft
        dtype = draw.choose(FLOATS[:2])
        shape = [*draw.shape(0, 1, smallest=1), lines, draw.integer(2, 5)]
        real, imag = (draw.tensor(shape, (dtype,), edges=False) for _ in range(2))
        window = draw.tensor([n_fft], (dtype,), edges=False).abs() + 0.5
        full = n_fft + hop * (shape[-1] - 1)
        return (torch.complex(real, imag), n_fft), {
            "hop_length": hop,
            "window": draw.choose((None, window)),
            "center": draw.flag(),
            "normalized": draw.flag(),
            "onesided": onesided,
            "length": draw.choose((None, full // 2)),
        }
