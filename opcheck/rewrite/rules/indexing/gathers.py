"""``gather`` without its kernel."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw


def gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Count the places of all elements in one row, and select from it."""
    place, step = index.to(torch.int64), 1
    if self.dim():
        place = torch.zeros_like(place)
    for number in reversed(range(self.dim())):
        here = index
        if number != dim % self.dim():
            here = torch.arange(index.size(number), device=index.device)
            here = here.reshape([-1, *[1] * (self.dim() - 1 - number)])
        place, step = place + here * step, step * self.size(number)
    return self.reshape(-1).index_select(0, place.reshape(-1)).reshape(index.shape)


class GatherBySelecting(Rule):
    """The tensor becomes one row, and each index the place of its element in that row.

    The places take a few calls on integers of the size of the index. The gradient adds up what
    was selected more than once, in the same order.
    """

    name = "gather-by-selecting"
    replaces = ("aten::gather",)
    summary = "Select from the tensor as one row, by places in that row"
    spellings = ("torch.gather", "Tensor.gather")
    references = ("https://pytorch.org/docs/stable/generated/torch.gather.html",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(gather)

    def refuses(self, call: Call) -> str:
        """Decline sparse gradients, and what has other numbers of dimensions."""
        if call.given("sparse_grad"):
            return "its gradient is sparse"
        if call.given("self").dim() != call.given("index").dim():
            return "the index has another number of dimensions"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Of all dtypes and numbers of dimensions, with smaller and with empty indices."""
        x = draw.tensor(
            draw.shape(smallest=1, high=3, largest=4), (*FLOATS[:2], *INTEGERS, torch.bool)
        )
        dim = draw.dim(x)
        sizes = [draw.integer(0, size) for size in x.shape]
        if sizes:
            sizes[dim] = draw.integer(0, 5)
        return (x, dim, draw.indices(sizes, x.size(dim) if x.dim() else 1)), {}
