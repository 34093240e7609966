"""``stft`` as products of windowed frames with tables of cosines and sines."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

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
        return "" if size <= LARGEST else f"a frame is longer than {LARGEST}"

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
