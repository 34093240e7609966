"""Solutions, inverses and determinants by elimination."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from opcheck.rewrite.base import Arguments
from opcheck.rewrite.draw import Draw
from opcheck.rewrite.rules.linear_algebra.elimination import (  # fmt: skip
    _ByElimination,
    det,
    determinant,
    inverse,
    inverse_and_info,
    inverse_ex,
    log_determinant,
    sign_and_log_determinant,
    sign_and_log_determinant_of,
    slogdet,
    solve,
    solve_and_info,
    solve_ex,
)


class SolveByElimination(_ByElimination):
    """Elimination with pivots, then one row of the solution after the other, for L and for U.

    About eighteen calls for each column, for all matrices of a batch at once. A matrix that is
    singular gives infinities, and its place in ``info``; nothing is raised.
    """

    name = "solve-by-elimination"
    replaces = ("aten::_linalg_solve_ex",)
    summary = "Eliminate column by column, and substitute"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.solve": solve,
        "torch.linalg.solve_ex": solve_and_info,
    }
    replace = staticmethod(solve_ex)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A vector or a matrix on the right, from either side, batches broadcast."""
        a, left = self.square(draw), draw.flag()
        batch: Sequence[int] = a.shape[draw.integer(0, a.dim() - 2) : -2]
        if draw.flag():
            b = draw.tensor([*a.shape[:-2], a.size(-1)], (a.dtype,), edges=False)
            return (a, b), {}
        b = draw.tensor([*batch, a.size(-1), draw.integer(0, 3)], (a.dtype,), edges=False)
        return (a, b if left else b.mT), {"left": left}


class InverseByElimination(_ByElimination):
    """Elimination with pivots, then one row after the other of the solution for the unit matrix.

    About eighteen calls for each column, for all matrices of a batch at once. A matrix that is
    singular gives infinities, and its place in ``info``; nothing is raised.
    """

    name = "inverse-by-elimination"
    replaces = ("aten::linalg_inv_ex",)
    summary = "Eliminate column by column, and solve for the unit matrix"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.inv": inverse,
        "torch.linalg.inv_ex": inverse_and_info,
        "torch.inverse": inverse,
        "Tensor.inverse": inverse,
    }
    replace = staticmethod(inverse_ex)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any square matrices."""
        return (self.square(draw),), {}


class DeterminantByElimination(_ByElimination):
    """The product of the pivots, and a sign for the exchanges.

    The gradient is taken through the elimination: that of a singular matrix is not PyTorch's.
    """

    name = "determinant-by-elimination"
    replaces = ("aten::_linalg_det",)
    summary = "Eliminate column by column, and multiply the pivots"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.det": determinant,
        "torch.det": determinant,
        "Tensor.det": determinant,
    }
    replace = staticmethod(det)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any square matrices."""
        return (self.square(draw),), {}


class LogDeterminantByElimination(_ByElimination):
    """The sum of the pivots' logarithms, and a sign for theirs and the exchanges.

    The gradient is taken through the elimination: that of a singular matrix is not PyTorch's.
    """

    name = "log-determinant-by-elimination"
    replaces = ("aten::_linalg_slogdet",)
    summary = "Eliminate column by column, and add the pivots' logarithms"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.linalg.slogdet": sign_and_log_determinant,
        "torch.slogdet": sign_and_log_determinant_of,
        "Tensor.slogdet": sign_and_log_determinant_of,
        "torch.logdet": log_determinant,
        "Tensor.logdet": log_determinant,
    }
    replace = staticmethod(slogdet)

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any square matrices."""
        return (self.square(draw),), {}
