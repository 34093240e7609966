"""The gradient of ``masked_scatter``, which PyTorch has as an operator since 2.1."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import SOURCES, Arguments, Rule
from opcheck.rewrite.draw import FLOATS, Draw


def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Count what the mask picks, and add each of it at its number."""
    size = math.prod(sizes)
    row, picks = grad_output.reshape(-1), mask.expand(grad_output.shape).reshape(-1)
    place = picks.to(torch.int64).cumsum(0) - 1
    behind = torch.full_like(place, size)
    place = torch.where(picks, torch.where(place < size, place, behind), behind)
    found = torch.zeros(size + 1, dtype=row.dtype, device=row.device).scatter_add(0, place, row)
    return found[:size].reshape(sizes)


class MaskedScatterBackwardByCounting(Rule):
    """What the mask picks is counted on, and each goes to the place of its number.

    Places that nothing was taken from stay 0; what is not picked goes behind the last and is cut
    off. Every place is written once, so the values are the same.
    """

    name = "masked-scatter-backward-by-counting"
    replaces = ("aten::masked_scatter_backward",)
    summary = "Count what the mask picks, and put each at its number"
    references = (f"{SOURCES}/aten/src/ATen/native/TensorAdvancedIndexing.cpp",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(masked_scatter_backward)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Masks of anything, and a source that is as large as what they may pick, or larger."""
        x = draw.tensor(draw.shape(low=1, high=3, smallest=1, largest=4), FLOATS[:2], edges=False)
        mask = draw.tensor(list(x.shape), (torch.bool,))
        return (x, mask, [x.numel() + draw.integer(0, 3)]), {}
