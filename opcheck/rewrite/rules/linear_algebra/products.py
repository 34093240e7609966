"""Products of vectors and matrices, and ``einsum``, by ``matmul``."""

from collections.abc import Callable, Mapping, Sequence
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


def _arranged(x: Tensor, have: str, want: str) -> Tensor:
    """The dimensions ``want``; those that ``have`` lacks are of size 1."""
    x = x.permute([have.index(label) for label in want if label in have])
    for place, label in enumerate(want):
        if label not in have:
            x = x.unsqueeze(place)
    return x


def _summed(x: Tensor, labels: str, needed: set[str]) -> tuple[Tensor, str]:
    """Take diagonals of labels that come twice, and sums over those that nobody needs."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = x.diagonal(dim1=first, dim2=second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    alone = [place for place, label in enumerate(labels) if label not in needed]
    if alone:
        x = x.sum(alone)
    return x, "".join(label for label in labels if label in needed)


def _product(a: Tensor, b: Tensor, left: str, right: str, needed: set[str]) -> tuple[Tensor, str]:
    """Multiply two, and sum over what both have and nobody needs."""
    batch = [label for label in left if label in right and label in needed]
    inner = [label for label in left if label in right and label not in needed]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]
    size = {label: a.size(place) for place, label in enumerate(left)}
    for place, label in enumerate(right):
        size[label] = max(size.get(label, 1), b.size(place))
    a = _arranged(a, left, "".join(batch + rows + inner))
    b = _arranged(b, right, "".join(batch + inner + columns))
    a = a.expand([size[label] for label in batch + rows + inner])
    b = b.expand([size[label] for label in batch + inner + columns])
    many, m, k, n = (_count(size, labels) for labels in (batch, rows, inner, columns))
    made = a.reshape(many, m, k) @ b.reshape(many, k, n)
    out = batch + rows + columns
    return made.reshape([size[label] for label in out]), "".join(out)


def _count(size: dict[str, int], labels: list[str]) -> int:
    count = 1
    for label in labels:
        count *= size[label]
    return count


def einsum(
    equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None
) -> Tensor:
    """Multiply from left to right, each pair as one batched matrix product."""
    given, _, result = equation.replace(" ", "").partition("->")
    terms = given.split(",")
    if "->" not in equation:
        result = "".join(sorted(label for label in set(given) - {","} if given.count(label) == 1))
    made, labels = _summed(tensors[0], terms[0], set("".join(terms[1:])) | set(result))
    for number, (x, term) in enumerate(zip(tensors[1:], terms[1:], strict=True), 1):
        needed = set("".join(terms[number + 1 :])) | set(result)
        x, term = _summed(x, term, needed | set(labels))
        made, labels = _summed(made, labels, needed | set(term))
        made, labels = _product(made, x, labels, term, needed)
    return made.permute([labels.index(label) for label in result])


def einsum_of(equation: Any, *operands: Any) -> Tensor:
    """``einsum`` as users call it; what names its dimensions otherwise is left to torch."""
    if not isinstance(equation, str) or "." in equation:
        return torch.einsum(equation, *operands)
    return einsum(equation, operands[0] if isinstance(operands[0], list | tuple) else operands)


class EinsumByMatmul(Rule):
    """Operands are multiplied from left to right, each pair as one batched matrix product.

    Labels of both that stay are its batch, labels of both that go are what it sums over; the rest
    are rows and columns. The order of summation may differ from PyTorch's.
    """

    name = "einsum-by-matmul"
    label = Label.TOLERANCE
    tolerance = 512.0
    replaces = ("aten::einsum",)
    summary = "Permute, and multiply as batched matrices"
    references = (
        "https://github.com/facebookresearch/segment-anything/pull/517",
        "https://github.com/deepmodeling/deepmd-kit/pull/4768",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {"torch.einsum": einsum_of}
    replace = staticmethod(einsum)

    def refuses(self, call: Call) -> str:
        """Decline dots for dimensions without a name."""
        return "dots stand for dimensions without a label" if "." in call.args[0] else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Products, traces, sums and outer products."""
        equation = draw.choose(
            ("ij,jk->ik", "bhqd,bhkd->bhqk", "bhwc,hkc->bhwk", "ij,kj", "ii->i", "ii", "ij->j",
             "i,j->ij", "bij,bjk,bkl->bil", "ab,cb,a->c", "abc->cab", "bn,anm,bm->ba", ",i->i")
        )  # fmt: skip
        sizes = {label: draw.integer(1, 4) for label in equation if label.isalpha()}
        terms, dtype = equation.partition("->")[0].split(","), draw.choose(FLOATS[:2])
        tensors = [draw.tensor([sizes[x] for x in t], (dtype,), edges=False) for t in terms]
        return (equation, tensors), {}
