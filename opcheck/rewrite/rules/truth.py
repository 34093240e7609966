"""``all`` by ``any``."""

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import ANY, Draw


def _as_given(self: Tensor, truth: Tensor) -> Tensor:
    """PyTorch gives uint8 for uint8, bool for everything else."""
    return truth.to(torch.uint8) if self.dtype == torch.uint8 else truth


def all_of(self: Tensor) -> Tensor:
    """Look for a zero."""
    return _as_given(self, ~(self == 0).any())


def all_of_dim(self: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """Look for a zero along the dimension."""
    return _as_given(self, ~(self == 0).any(dim, keepdim))


class AllByAny(Rule):
    """All are true where none is zero."""

    name = "all-by-any"
    replaces = ("aten::all",)
    summary = "Ask whether any is zero"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_refs/__init__.py",)
    replace = staticmethod(all_of)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any dtype."""
        return (draw.tensor(dtypes=ANY),), {}


class AllOfDimByAny(Rule):
    """All are true where none is zero along the dimension."""

    name = "all-of-dim-by-any"
    replaces = ("aten::all.dim",)
    summary = "Ask whether any is zero"
    references = AllByAny.references
    replace = staticmethod(all_of_dim)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any dtype and dimension."""
        x = draw.tensor(dtypes=ANY)
        return (x, draw.dim(x), draw.flag()), {}
