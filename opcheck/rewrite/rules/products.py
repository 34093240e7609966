"""Products with what they are added to, by products alone."""

from typing import Any, ClassVar

from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.draw import FLOATS, Draw


def _added(self: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """Leave ``self`` out where it counts for nothing, whatever is in it."""
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled + 0 * self.detach().new_zeros(self.shape) if scaled.dim() else scaled
    return (self if beta == 1 else self * beta) + scaled


def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Multiply with the vector as a matrix of one column."""
    return _added(self, mat.mm(vec.unsqueeze(-1)).squeeze(-1), beta, alpha)


def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Multiply all matrices at once: the sum over the batch is part of one longer product."""
    left = batch1.transpose(0, 1).reshape(batch1.size(1), -1)
    return _added(self, left.mm(batch2.reshape(-1, batch2.size(2))), beta, alpha)


class _Product(Rule):
    label = Label.TOLERANCE
    tolerance = 32
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",
    )

    def _factors(self, draw: Draw) -> dict[str, Any]:
        return {"beta": draw.choose((1, 0, 0.5)), "alpha": draw.choose((1, 2))}


class AddmvByMm(_Product):
    """A vector is a matrix of one column."""

    name = "addmv-by-mm"
    replaces = ("aten::addmv",)
    summary = "Multiply with the vector as a matrix of one column"
    spellings = ("torch.addmv", "Tensor.addmv")
    replace = staticmethod(addmv)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Rows added one by one, or one number to all."""
        dtype, rows, size = (draw.choose(FLOATS[:2]),), draw.integer(1, 5), draw.integer(1, 5)
        x = draw.tensor([draw.choose((rows, 1))], dtype, edges=False)
        mat = draw.tensor([rows, size], dtype, edges=False)
        return (x, mat, draw.tensor([size], dtype, edges=False)), self._factors(draw)


class AddbmmByMm(_Product):
    """A sum of products of matrices is one product of all of them side by side."""

    name = "addbmm-by-mm"
    replaces = ("aten::addbmm",)
    summary = "Multiply the matrices side by side"
    spellings = ("torch.addbmm", "Tensor.addbmm")
    replace = staticmethod(addbmm)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A matrix is added, or one row to all."""
        dtype = (draw.choose(FLOATS[:2]),)
        batch, rows, size, columns = draw.shape(4, 4, smallest=1)
        x = draw.tensor([draw.choose((rows, 1)), columns], dtype, edges=False)
        left = draw.tensor([batch, rows, size], dtype, edges=False)
        right = draw.tensor([batch, size, columns], dtype, edges=False)
        return (x, left, right), self._factors(draw)
