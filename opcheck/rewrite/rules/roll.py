"""``roll`` without its kernel."""

from collections.abc import Sequence

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import ANY, Draw


def roll(self: Tensor, shifts: Sequence[int] | int, dims: Sequence[int] | int = ()) -> Tensor:
    """Exchange the two parts that each shift cuts a dimension into."""
    moves = [shifts] if isinstance(shifts, int) else list(shifts)
    along = [dims] if isinstance(dims, int) else list(dims)
    if not along:
        return roll(self.flatten(), moves, [0]).reshape(self.shape)
    if len(moves) != len(along):
        raise RuntimeError(f"{len(moves)} shifts for {len(along)} dimensions")
    for shift, dim in zip(moves, along, strict=True):
        size = self.size(dim)
        cut = -shift % size if size else 0
        if cut:
            parts = (self.narrow(dim, cut, size - cut), self.narrow(dim, 0, cut))
            self = torch.cat(parts, dim)
    return self.clone(memory_format=torch.contiguous_format)


class RollByJoining(Rule):
    """Each shift cuts a dimension in two; the parts are joined the other way round."""

    name = "roll-by-joining"
    replaces = ("aten::roll",)
    summary = "Join the two parts the other way round"
    spellings = ("torch.roll", "Tensor.roll")
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_refs/__init__.py",)
    replace = staticmethod(roll)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With dimensions or flattened, shifts of any size and sign."""
        x = draw.tensor(dtypes=ANY)
        if not x.dim() or draw.flag():
            return (x, [draw.integer(-7, 7)]), {}
        dims = [draw.dim(x) for _ in range(draw.integer(1, 2))]
        return (x, [draw.integer(-7, 7) for _ in dims], dims), {}
