"""Products of vectors and matrices by those that every target has."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, NUMBERS, Draw

Number = int | float | bool


def _blended(self: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    """``beta * self + alpha * product``; what is taken 0 times is not looked at."""
    product = product if alpha == 1 else alpha * product
    if beta == 0:
        return product
    return (self if beta == 1 else beta * self) + product


def dot(self: Tensor, tensor: Tensor) -> Tensor:
    """Multiply, and add up."""
    return (self * tensor).sum(dtype=self.dtype)


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Multiply, and add up."""
    return (self * other).sum(dtype=self.dtype)


def mv(self: Tensor, vec: Tensor) -> Tensor:
    """Multiply with a matrix of one column."""
    return (self @ vec.unsqueeze(-1)).squeeze(-1)


def matmul_of_vectors(input: Tensor, other: Tensor) -> Tensor:
    """Multiply two vectors, and add up."""
    if input.dim() == 1 and other.dim() == 1:
        return dot(input, other)
    return torch.matmul(input, other)


def matmul_with_vector(input: Tensor, other: Tensor) -> Tensor:
    """Multiply with a matrix of one column."""
    if input.dim() == 2 and other.dim() == 1:
        return mv(input, other)
    return torch.matmul(input, other)


def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Multiply with a matrix of one column, and add."""
    return _blended(self, (mat @ vec.unsqueeze(-1)).squeeze(-1), beta, alpha)


def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Lay matrices side by side: one product adds up all of theirs."""
    count, rows, inner = batch1.shape
    left = batch1.transpose(0, 1).reshape(rows, count * inner)
    return _blended(self, left @ batch2.reshape(count * inner, batch2.size(-1)), beta, alpha)


class DotBySum(Rule):
    """Two vectors are multiplied, and the products added up."""

    name = "dot-by-sum"
    label = Label.TOLERANCE
    tolerance = 1024.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::dot",)
    summary = "Multiply, and add up"
    spellings: ClassVar[tuple[str, ...]] = ("torch.dot", "Tensor.dot")
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.matmul": matmul_of_vectors, "Tensor.matmul": matmul_of_vectors
    }  # fmt: skip
    replace: ClassVar[Callable[..., Any]] = staticmethod(dot)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers."""
        return "the numbers are complex" if call.args[0].is_complex() else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Two vectors of one size."""
        dtype, size = draw.choose((*FLOATS[:2], *NUMBERS[4:])), [draw.integer(0, 5)]
        return (draw.tensor(size, (dtype,)).abs(), draw.tensor(size, (dtype,)).abs()), {}


class VdotBySum(DotBySum):
    """Two real vectors are multiplied, and the products added up."""

    name = "vdot-by-sum"
    replaces = ("aten::vdot",)
    spellings = ("torch.vdot", "Tensor.vdot")
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    replace = staticmethod(vdot)


class _ByMatmul(Rule):
    """What products of matrices share: a vector is a matrix of one column."""

    label = Label.TOLERANCE
    tolerance = 1024.0

    def refuses(self, call: Call) -> str:
        """Decline integers, for which few targets multiply matrices."""
        return "" if call.args[0].is_floating_point() else "the numbers are not floating-point"

    def number(self, draw: Draw) -> Number:
        """Draw a factor, 0 among them."""
        return draw.choose((1, 0, 2, -0.5))


class MvByMatmul(_ByMatmul):
    """A vector is a matrix of one column, for which every target has a product."""

    name = "mv-by-matmul"
    replaces: ClassVar[tuple[str, ...]] = ("aten::mv",)
    summary = "Multiply with a matrix of one column"
    spellings: ClassVar[tuple[str, ...]] = ("torch.mv", "Tensor.mv")
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.matmul": matmul_with_vector, "Tensor.matmul": matmul_with_vector
    }  # fmt: skip
    replace: ClassVar[Callable[..., Any]] = staticmethod(mv)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One matrix and one vector."""
        dtype, inner = draw.choose(FLOATS[:2]), draw.integer(0, 4)
        mat = draw.tensor([draw.integer(0, 4), inner], (dtype,))
        return (mat, draw.tensor([inner], (dtype,))), {}


class AddmvByMatmul(_ByMatmul):
    """A vector is a matrix of one column, for which every target has a product."""

    name = "addmv-by-matmul"
    replaces = ("aten::addmv",)
    summary = "Multiply with a matrix of one column, and add"
    spellings = ("torch.addmv", "Tensor.addmv")
    replace = staticmethod(addmv)

    def example(self, op: str, draw: Draw) -> Arguments:
        """One matrix and one vector, added to one that may be broadcast."""
        dtype, rows, inner = draw.choose(FLOATS[:2]), draw.integer(0, 4), draw.integer(0, 4)
        self_ = draw.tensor([draw.choose((rows, 1))], (dtype,), edges=False)
        mat = draw.tensor([rows, inner], (dtype,), edges=False)
        vec = draw.tensor([inner], (dtype,), edges=False)
        return (self_, mat, vec), {"beta": self.number(draw), "alpha": self.number(draw)}


class AddbmmBySideBySide(_ByMatmul):
    """Matrices of a batch are laid side by side: one product then adds up all of theirs."""

    name = "addbmm-side-by-side"
    replaces = ("aten::addbmm",)
    summary = "Lay the matrices side by side, and multiply once"
    spellings = ("torch.addbmm", "Tensor.addbmm")
    replace = staticmethod(addbmm)

    def example(self, op: str, draw: Draw) -> Arguments:
        """A few matrices, added to one that may be broadcast."""
        dtype, count, inner = draw.choose(FLOATS[:2]), draw.integer(0, 3), draw.integer(0, 3)
        rows, columns = draw.integer(0, 4), draw.integer(0, 4)
        self_ = draw.tensor([draw.choose((rows, 1)), columns], (dtype,), edges=False)
        first = draw.tensor([count, rows, inner], (dtype,), edges=False)
        second = draw.tensor([count, inner, columns], (dtype,), edges=False)
        return (self_, first, second), {"beta": self.number(draw), "alpha": self.number(draw)}
