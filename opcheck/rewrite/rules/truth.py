"""``all`` by ``any``."""

from collections.abc import Sequence

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


def all_of_dims(
    self: Tensor, dim: Sequence[int] | int | None = None, keepdim: bool = False
) -> Tensor:
    """Look for a zero along one dimension after the other."""
    count = max(self.dim(), 1)
    given = range(count) if dim is None else [dim] if isinstance(dim, int) else dim
    places = {d % count for d in given}
    zeros = self == 0
    for place in sorted(places, reverse=True):
        zeros = zeros.any(place, keepdim)
    return _as_given(self, ~zeros)


class AllByAny(Rule):
    """All are true where none is zero."""

    name = "all-by-any"
    replaces = ("aten::all",)
    summary = "Ask whether any is zero"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_refs/__init__.py",)
    spellings = ("torch.all", "Tensor.all")
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
    spellings = ("torch.all", "Tensor.all")
    replace = staticmethod(all_of_dim)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any dtype and dimension."""
        x = draw.tensor(dtypes=ANY)
        return (x, draw.dim(x), draw.flag()), {}


class AllOfDimsByAny(Rule):
    """All are true where none is zero, along one dimension after the other."""

    name = "all-of-dims-by-any"
    replaces = ("aten::all.dims",)
    summary = "Ask whether any is zero, dimension by dimension"
    references = AllByAny.references
    spellings = ("torch.all", "Tensor.all")
    replace = staticmethod(all_of_dims)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Some dimensions, or all."""
        x = draw.tensor(draw.shape(1, 4), dtypes=ANY)
        dims = [d for d in range(x.dim()) if draw.flag()]
        return (x, draw.choose((None, [d - x.dim() for d in dims], dims)), draw.flag()), {}
