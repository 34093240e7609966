"""Norms of matrices that are made of their singular values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


def matrix_norm(
    self: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Add singular values up, or take the largest or the smallest."""
    x = self if dtype is None else self.to(dtype)
    rows, columns = (d % x.dim() for d in dim)
    values = torch.linalg.svdvals(x.movedim((rows, columns), (-2, -1)))
    norm: Tensor = values.sum(-1) if ord == "nuc" else values.amax(-1)
    if ord == -2:
        norm = values.amin(-1)
    for d in sorted((rows, columns)) if keepdim else ():
        norm = norm.unsqueeze(d)
    return norm


def norm_of(
    input: Tensor, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """``matrix_norm`` by singular values; norms that are not made of them are left to torch."""
    if ord in ("nuc", 2, -2):
        return matrix_norm(input, ord, dim, keepdim, dtype=dtype)
    norm: Tensor = torch.linalg.matrix_norm(input, ord, dim, keepdim, dtype=dtype)
    return norm


class MatrixNormBySingularValues(Rule):
    """The nuclear norm is the sum of the singular values, those of 2 and -2 are their extremes.

    This is what PyTorch computes itself; it is of use where a vendor's own code declines these
    norms and yet has a kernel for singular values.
    """

    name = "matrix-norm-by-singular-values"
    replaces = ("aten::linalg_matrix_norm", "aten::linalg_matrix_norm.str_ord")
    summary = "Add singular values up, or take the largest or the smallest"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/LinearAlgebra.cpp",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.linalg.matrix_norm": norm_of}
    replace = staticmethod(matrix_norm)

    def refuses(self, call: Call) -> str:
        """Decline norms that are not made of singular values."""
        if call.given("ord", "fro") in ("nuc", 2, -2):
            return ""
        return "the norm is not made of singular values"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Along any two dimensions, which stay or go."""
        shape = draw.shape(2, 4, smallest=1, largest=4)
        x = torch.eye(*shape[-2:]) + draw.tensor(shape, FLOATS[:2], edges=False)
        first = draw.dim(x)
        others = [d for d in range(x.dim()) if d != first % x.dim()]
        ord_ = "nuc" if op.endswith("str_ord") else draw.choose((2, -2))
        return (x, ord_, [first, draw.choose(others)], draw.flag()), {}
