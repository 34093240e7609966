"""``histc`` by ``scatter_add``, and by comparing with every bin."""

from typing import ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

_LARGEST = 1 << 24
_WIDE = FLOATS[:2]


def _ends(x: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """The ends of the range: those given, or those of the values where they are the same."""
    first, last = x.new_full([], low), x.new_full([], high)
    if low == high and x.numel():
        first, last = x.min(), x.max()
    same = first == last
    return torch.where(same, first - 1, first), torch.where(same, last + 1, last)


def _places(self: Tensor, bins: int, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Where values come among the bins, and whether they are within the range: 1 or 0."""
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    x = self.detach().reshape(-1)
    x = x if x.is_floating_point() else x.float()
    first, last = _ends(x, low, high)
    share = (x >= first).to(x.dtype) * (x <= last).to(x.dtype)
    return torch.where(share > 0, (x - first) * bins / (last - first), torch.zeros_like(x)), share


def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:  # the schema's
    """Scale values to bins, round down, and count."""
    place, share = _places(self, bins, min, max)
    place = place.long().clamp(0, bins - 1)
    return share.new_zeros([bins]).scatter_add(0, place, share).to(self.dtype)


def histc_by_comparing(
    self: Tensor, bins: int = 100, min: float = 0, max: float = 0  # the schema's
) -> Tensor:  # fmt: skip
    """Scale values to bins, round down, compare with the number of each bin, and add up."""
    place, share = _places(self, bins, min, max)
    place = place.floor().clamp(0, bins - 1).unsqueeze(-1)
    number = torch.arange(bins, dtype=share.dtype, device=share.device)
    counts = torch.where(place == number, share.unsqueeze(-1), torch.zeros_like(place)).sum(0)
    return counts.to(self.dtype)


class HistcByCounting(Rule):
    """Values are scaled to the number of bins, rounded down, and counted by ``scatter_add``.

    Where no range is given, the smallest and the largest value stay on the device. Integers, which
    PyTorch counts on devices only, are counted as float32, in which all are exact that come up.
    """

    name = "histc-by-counting"
    replaces = ("aten::histc",)
    summary = "Scale to bins, round down, and count with scatter_add"
    spellings = ("torch.histc", "Tensor.histc")
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cpu/HistogramKernel.cpp",
    )
    replace = staticmethod(histc)

    def refuses(self, call: Call) -> str:
        """Decline to count without bins, and integers that float32 may not tell apart."""
        bins = call.given("bins", 100)
        if bins < 1:
            return "there are no bins"
        x, low, high = call.given("self"), call.given("min", 0), call.given("max", 0)
        if x.is_floating_point():
            return ""
        if not (float(low).is_integer() and float(high).is_integer() and low < high):
            return "it counts integers only in a range of integers that is given"
        if max(abs(low), abs(high), (high - low) * bins, x.numel()) >= _LARGEST:
            return "so many integers, or such large ones, are not exact in float32"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """A range, or that of the values."""
        given = draw.flag()
        x = draw.tensor(dtypes=_WIDE, edges=given)
        low, high = draw.choose(((-1, 2), (0, 0.75), (-0.3, 1.1))) if given else (0, 0)
        return (x, draw.integer(1, 9), low, high), {}


class HistcWithoutScatter(HistcByCounting):
    """Values are scaled to the number of bins, rounded down, and compared with every bin.

    For targets that scatter nothing. Each value takes as many numbers as there are bins, so that
    it is for few of them, such as the experts of a layer.
    """

    name = "histc-without-scatter"
    summary = "Scale to bins, round down, compare with every bin, and add up"
    spellings = ("torch.histc", "Tensor.histc")
    replace = staticmethod(histc_by_comparing)

    def refuses(self, call: Call) -> str:
        """Decline what takes too much memory as well."""
        times = call.given("self").numel() * call.given("bins", 100)
        if times > _LARGEST:
            return Sentence(
                "it would compare {count} times, more than {count_most}",
                count=f"{times:,}",
                count_most=f"{_LARGEST:,}",
            )
        return super().refuses(call)
