"""``einsum`` by ``matmul``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


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
