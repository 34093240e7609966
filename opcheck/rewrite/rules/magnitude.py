"""The magnitude of complex numbers from their parts."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import COMPLEX, Draw


def magnitude(self: Tensor) -> Tensor:
    """Take the root of the sum of both squares, in units of the larger; the gradient of 0 is 0."""
    parts = torch.view_as_real(self.resolve_conj())
    real, imag = parts.detach().abs().unbind(-1)
    unit = torch.where(real > imag, real, imag)
    unit = torch.where((unit > 0) & (unit < math.inf), unit, torch.ones_like(unit))
    parts = parts / unit.unsqueeze(-1)
    squares = (parts * parts).sum(-1)
    nothing = squares == 0
    root = torch.where(nothing, torch.ones_like(squares), squares).sqrt()
    return torch.where(nothing, squares, root) * unit


def absolute(input: Tensor) -> Tensor:
    """The magnitude; that of real numbers is left to torch."""
    return magnitude(input) if input.is_complex() else torch.abs(input)


class AbsByParts(Rule):
    """The root of the sum of the squares of the real and the imaginary part.

    Spectrograms ask this after ``stft``. Both parts are divided by the larger one first, so that
    no square overflows or vanishes. A dozen calls; where one part is infinite and the other NaN,
    this gives NaN and the original infinity.
    """

    name = "abs-by-parts"
    label = Label.TOLERANCE
    tolerance = 16.0
    replaces = ("aten::abs",)
    summary = "Take the root of the sum of both parts' squares"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.abs": absolute,
        "Tensor.abs": absolute,
        "torch.absolute": absolute,
        "Tensor.absolute": absolute,
    }
    replace = staticmethod(magnitude)

    def refuses(self, call: Call) -> str:
        """Real numbers, which have no parts."""
        x = call.given("self")
        return "" if x.dtype.is_complex else f"{x.dtype} has no parts"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Zeros among them."""
        x = draw.tensor(dtypes=COMPLEX, edges=False)
        return (x * 0 if draw.integer(0, 5) == 5 else x,), {}
