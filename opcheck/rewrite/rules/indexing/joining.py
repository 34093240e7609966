"""Tensors joined without those that add nothing."""

from collections.abc import Sequence

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import ANY, Draw


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join those that have something."""
    return torch.cat([x for x in tensors if x.dim() != 1 or x.numel()], dim)


class CatWithoutEmpty(Rule):
    """An empty tensor of one dimension may stand among others of more, and adds nothing.

    PyTorch keeps that for old code; caches of keys and values begin so. Kernels and converters
    that do without need not be given it.
    """

    name = "cat-without-empty"
    replaces = ("aten::cat",)
    summary = "Leave out the empty tensors of one dimension"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/TensorShape.h",
    )
    spellings = ("torch.cat",)
    replace = staticmethod(cat)

    def refuses(self, call: Call) -> str:
        """Decline what has no such tensor, nothing else, or one of another dtype."""
        tensors = call.given("tensors")
        empty = [x for x in tensors if x.dim() == 1 and not x.numel()]
        if not empty or all(x.dim() == 1 for x in tensors):
            return "no empty tensor of one dimension is among others of more"
        if len({x.dtype for x in tensors}) > 1:
            return "the empty tensor has a say in the dtype"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """One or two empty ones before, between and behind others."""
        dtype, shape = draw.choose(ANY), draw.shape(2, 4)
        x = draw.tensor(shape, (dtype,))
        tensors = [x] * draw.integer(1, 2)
        for _ in range(draw.integer(1, 2)):
            tensors.insert(draw.integer(0, len(tensors)), x.new_zeros([0]))
        return (tensors, draw.dim(x)), {}
