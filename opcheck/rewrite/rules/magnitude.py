"""The magnitude of complex numbers from their parts."""

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import COMPLEX, Draw


def magnitude(self: Tensor) -> Tensor:
    """Take the root of the sum of both squares; the gradient of 0 is 0."""
    parts = torch.view_as_real(self.resolve_conj())
    squares = (parts * parts).sum(-1)
    nothing = squares == 0
    root = torch.where(nothing, torch.ones_like(squares), squares).sqrt()
    return torch.where(nothing, squares, root)


class AbsByParts(Rule):
    """The root of the sum of the squares of the real and the imaginary part.

    Spectrograms ask this after ``stft``. Parts beyond 1e19 in float32 overflow when squared, where
    the original scales first.
    """

    name = "abs-by-parts"
    label = Label.TOLERANCE
    tolerance = 16.0
    replaces = ("aten::abs",)
    summary = "Take the root of the sum of both parts' squares"
    replace = staticmethod(magnitude)

    def refuses(self, call: Call) -> str:
        """Real numbers, which have no parts."""
        x = call.given("self")
        return "" if x.dtype.is_complex else f"{x.dtype} has no parts"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Zeros among them."""
        x = draw.tensor(dtypes=COMPLEX, edges=False)
        return (x * 0 if draw.integer(0, 5) == 5 else x,), {}
