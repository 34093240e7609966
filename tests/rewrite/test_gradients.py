"""First derivatives of rules for single numbers, number by number over each dtype's range."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Rule
from opcheck.rewrite.draw import FLOATS
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.elements import beyond, called, spaced
from tests.rewrite.test_elements import _given, cases, settings

SETTINGS = 3
"""Sets of other arguments that are tried."""
PAIRS = [(rule, op) for rule, op in cases() if rule.label is not Label.APPROXIMATE]


def gradients(function: Callable[..., Tensor], given: Sequence[Tensor]) -> list[Tensor] | None:
    """Of each argument; None where the result has no gradient."""
    leaves = [tensor.detach().clone().requires_grad_() for tensor in given]
    result = function(*leaves)
    if not result.requires_grad:
        return None
    found = torch.autograd.grad(result.sum(), leaves, allow_unused=True)
    return [
        torch.zeros_like(leaf) if gradient is None else gradient
        for leaf, gradient in zip(leaves, found, strict=True)
    ]


def _far(
    original: Callable[..., Tensor],
    replaced: Callable[..., Tensor],
    given: Sequence[Tensor],
    units: float,
    absolute: bool,
) -> list[str]:
    wanted = gradients(original, given)
    if wanted is None:
        return []
    found = gradients(replaced, given)
    found = [torch.zeros_like(gradient) for gradient in wanted] if found is None else found
    places: list[str] = []
    for index, gradient in enumerate(found):

        def vectors(*tensors: Tensor, index: int = index) -> Tensor:
            return (gradients(original, tensors) or [])[index]

        def one_by_one(*tensors: Tensor, index: int = index) -> Tensor:
            return vectors(*map(spaced, tensors), index=index)

        far = beyond(vectors, given, gradient, units) & beyond(one_by_one, given, gradient, units)
        if absolute:
            away = (wanted[index].double() - gradient.double()).abs()
            far &= ~(away <= units * torch.finfo(gradient.dtype).eps)
        places += [
            f"{[float(x[at]) for x in given]}: {float(wanted[index][at])!r}, not "
            f"{float(gradient[at])!r}"
            for at in far.nonzero().flatten().tolist()
        ]
    return places


def wrong(rule: Rule, op: str, dtype: torch.dtype) -> list[str]:
    """The numbers whose derivative is further off than the label says."""
    func, replace = overload_named(op), serving(op, rule.function(op))
    units = 0.0 if rule.label is Label.EXACT else rule.tolerance
    places: list[str] = []
    for drawn, named in list(settings(rule, op, dtype))[:SETTINGS]:
        original = partial(called, func, drawn, named)
        replaced = partial(called, replace, drawn, named)
        given = _given(op, drawn, dtype)
        try:
            gradients(original, given)
        except (RuntimeError, NotImplementedError):  # none of this dtype on the host
            continue
        places += _far(original, replaced, given, units, rule.cancels)
    return places


@pytest.mark.parametrize(
    ("rule", "op"), PAIRS, ids=[f"{r.name}-{op.removeprefix('aten::')}" for r, op in PAIRS]
)
def test_each_derivative_is_as_near_as_the_label_says(rule: Rule, op: str) -> None:
    found = {dtype: wrong(rule, op, dtype)[:4] for dtype in FLOATS}
    assert {dtype: places for dtype, places in found.items() if places} == {}
