"""``logcumsumexp`` by joining spans, and stable sorting by sorting twice."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, Draw


def _logaddexp(a: Tensor, b: Tensor) -> Tensor:
    top = torch.maximum(a, b).detach()
    top = torch.where(top.abs() < float("inf"), top, torch.zeros_like(top))
    total = (a - top).exp() + (b - top).exp()
    none = total == 0
    logs = torch.where(none, torch.ones_like(total), total).log() + top
    return torch.where(none, torch.full_like(logs, float("-inf")), logs)


def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """Join spans of twice the length until they reach the start."""
    if not self.dim():
        return self.clone()
    size = self.size(dim)
    sums = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    reach = 1
    while reach < size:
        late, early = sums.narrow(dim, reach, size - reach), sums.narrow(dim, 0, size - reach)
        sums = torch.cat([sums.narrow(dim, 0, reach), _logaddexp(early, late)], dim)
        reach *= 2
    return sums.to(self.dtype) if sums is not self else self.clone()


def sort(
    self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    """Sort, then sort the places of each run of equal values."""
    if not self.dim():
        return self.clone(), torch.zeros([], dtype=torch.int64, device=self.device)
    size = self.size(dim)
    ordered, places = self.detach().sort(dim, descending)
    if size > 1:
        after, before = ordered.narrow(dim, 1, size - 1), ordered.narrow(dim, 0, size - 1)
        apart = (after != before) & ((after == after) | (before == before))  # all NaN are equal
        first = torch.zeros_like(places.narrow(dim, 0, 1))
        runs = torch.cat([first, apart.long().cumsum(dim)], dim)
        places = (runs * size + places).sort(dim).values % size
    return self.gather(dim, places), places


def sorted_stably(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Any:
    """Sort, then sort the places of each run of equal values."""
    if not stable:
        return input.sort(dim, descending)
    return torch.return_types.sort(sort(input, stable=True, dim=dim, descending=descending))


def places_sorted_stably(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """Sort, then sort the places of each run of equal values; the places alone."""
    if not stable:
        return input.argsort(dim, descending)
    return sort(input, stable=True, dim=dim, descending=descending)[1]


class LogcumsumexpByHalves(Rule):
    """Spans of 1, 2, 4, ... elements are joined by ``log(exp(a) + exp(b))`` until they reach back.

    The larger of the two is taken out first, so nothing overflows. It takes a dozen kernels for
    each doubling of the dimension. Where everything up to an element is ``-inf``, the gradient
    is 0; PyTorch's is NaN.
    """

    name = "logcumsumexp-by-halves"
    label = Label.TOLERANCE
    tolerance = 32
    replaces = ("aten::logcumsumexp", "aten::_logcumsumexp")
    summary = "Join spans of twice the length with exp, add and log"
    spellings = ("torch.logcumsumexp", "Tensor.logcumsumexp")
    references = ("https://en.wikipedia.org/wiki/Prefix_sum#Parallel_algorithms",)
    replace = staticmethod(logcumsumexp)

    def refuses(self, call: Call) -> str:
        """Decline complex numbers, of which none is the larger."""
        return "it takes no complex numbers" if call.given("self").is_complex() else ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Far from 0 too, and without what makes PyTorch's gradient NaN."""
        x = draw.tensor(draw.shape(high=3, largest=9), edges=False)
        return (x * draw.choose((1, 30)), draw.dim(x)), {}


class StableSortBySortingTwice(Rule):
    """Once sorted, the places within each run of equal values are sorted as well.

    Runs are numbered, and ``run * size + place`` is sorted: these numbers are all different, so
    that any sort gives the one order that a stable sort gives.
    """

    name = "stable-sort-by-sorting-twice"
    replaces = ("aten::sort.stable",)
    summary = "Sort, then sort the places of each run of equal values"
    references = ("https://github.com/pytorch/pytorch/blob/main/torch/_torch_docs.py",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.sort": sorted_stably,
        "Tensor.sort": sorted_stably,
        "torch.argsort": places_sorted_stably,
        "Tensor.argsort": places_sorted_stably,
    }
    replace = staticmethod(sort)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With equal values among them."""
        x = draw.tensor(draw.shape(high=3, largest=9), (*FLOATS, *INTEGERS))
        if x.is_floating_point() and draw.flag():
            x = x.round()
        given = {"stable": True, "dim": draw.dim(x), "descending": draw.flag()}
        return (x,), given
