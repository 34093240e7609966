"""``matrix_exp`` by scaling and squaring, without a look at the values."""

import math

import torch
from msgspec.structs import replace as altered
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

SQUARINGS = 16
"""Times that a result may be squared: norms up to ``2 ** 16`` are scaled to 1."""
DEGREE = 18
"""Of the Taylor polynomial, as PyTorch's for norms up to 1."""


def _polynomial(a: Tensor) -> Tensor:
    """Add terms of the series in threes, from the highest."""
    unit = torch.eye(a.size(-1), dtype=a.dtype, device=a.device)
    square = a @ a
    cube, made = square @ a, unit / math.factorial(DEGREE)
    for power in range(DEGREE - 3, -1, -3):
        made = made @ cube + (
            unit / math.factorial(power)
            + a / math.factorial(power + 1)
            + square / math.factorial(power + 2)
        )
    return made


def matrix_exp(self: Tensor) -> Tensor:
    """Halve until the norm is at most 1, add the series, and square as often."""
    if not self.numel():
        return self.clone()
    norm = self.detach().abs().sum(-2, keepdim=True).amax(-1, keepdim=True)
    scale = torch.ones_like(norm)
    for step in range(SQUARINGS):
        scale = torch.where(norm > 2**step, scale / 2, scale)
    made = _polynomial(self * scale)
    for step in range(SQUARINGS):
        made = torch.where(norm > 2**step, made @ made, made)
    return made


class MatrixExpBySquaring(Rule):
    """Each matrix is halved until its norm is at most 1; what the series gives is squared back.

    Norms decide by masks, not branches: every matrix goes through sixteen squarings, of which
    ``where`` keeps as many as it needs. Twenty-four products in all, for any size. A norm beyond
    ``2 ** 16`` is not scaled far enough, and its result is wrong.
    """

    name = "matrix-exp-by-squaring"
    label = Label.TOLERANCE
    tolerance = 1024.0
    replaces = ("aten::linalg_matrix_exp",)
    summary = "Add the Taylor series of the scaled matrix, and square it back under masks"
    spellings = (
        "torch.linalg.matrix_exp", "torch.matrix_exp", "Tensor.matrix_exp"
    )  # fmt: skip
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/LinearAlgebra.cpp",
    )
    replace = staticmethod(matrix_exp)

    def refuses(self, call: Call) -> str:
        """Decline complex matrices and half precision."""
        given = call.args[0]
        return "" if given.dtype in FLOATS[:2] else "the matrix is not of float32 or float64"

    def valid(self, call: Call) -> Call:
        """Keep the exponents small, whatever the size."""
        return altered(call, args=(call.args[0] / max(call.args[0].size(-1), 1) ** 0.5,))

    def example(self, op: str, draw: Draw) -> Arguments:
        """With norms from 0 to about 30."""
        size = draw.integer(0, 4)
        shape = [*draw.shape(0, 2, largest=3), size, size]
        return (
            draw.tensor(shape, FLOATS[:2], edges=False) * draw.choose((1.0, 0.0, 0.1, 3.0)),
        ), {}
