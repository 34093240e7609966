"""Rules that compare numbers against their operators, where numbers tie, are NaN or infinite."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opcheck.model.plan import Label
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.rules.images import max_pools
from opcheck.rewrite.rules.reductions import extremes, order_statistics, scans
from opcheck.rewrite.rules.reductions import scans as uniques
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.elements import same

ROOMS = tuple(room.__name__ for room in (extremes, max_pools, order_statistics, scans, uniques))
ELSEWHERE = frozenset({"aten::logcumsumexp", "aten::_logcumsumexp"})
"""A sum, and no order."""
POOLS = (
    (0.0, -0.0),
    (0.0, -0.0, 1.0, -1.0),
    (0.0, -0.0, math.inf, -math.inf),
    (0.0, -0.0, 1.0, math.nan),
    (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan),
)
PAIRS = [
    (rule, op)
    for rule in rules()
    if type(rule).__module__ in ROOMS
    for op in rule.replaces
    if op not in ELSEWHERE
]


def _tied(value: Any, seed: int, long: bool) -> Any:
    """Numbers of a few values instead of those of a tensor, which may be made longer."""
    if not isinstance(value, Tensor):
        return value
    if not value.is_floating_point():  # median of expanded ones reads what is not there, torch 2.13
        return value.clone(memory_format=torch.contiguous_format)
    pool = torch.tensor(POOLS[seed % len(POOLS)], dtype=value.dtype)
    sizes = list(value.shape)
    if long and sizes and sizes[-1] > 1:
        sizes[-1] *= 17  # beyond what is done at once, or sorted by inserting
    random = torch.Generator().manual_seed(seed + len(sizes) * 1000)
    return pool[torch.randint(len(pool), sizes, generator=random)]


def _calls(rule: Rule, op: str) -> Iterator[Call]:
    func = overload_named(op)
    names = [argument.name for argument in func._schema.arguments]
    for seed in range(60):
        drawn, named = rule.example(op, RandomDraw(seed))
        args = tuple(
            _tied(value, seed, seed % 2 == 1) if name in ("self", "other") else value
            for name, value in zip(names, drawn, strict=False)
        )
        call = Call(func, args, named)
        if not rule.refuses(call):
            yield call


def _tensors(results: Any) -> list[Tensor]:
    return [result for result in tree_leaves(results) if isinstance(result, Tensor)]


def wrong(rule: Rule, call: Call, wanted: Sequence[Tensor], found: Sequence[Tensor]) -> bool:
    """Whether results differ in more than the label allows.

    Where it is exact, that is each bit and each index. Else what the operator settles must agree
    in value, whichever of equal numbers is taken.
    """
    if rule.label is not Label.EXACT:
        wanted, found = (
            rule.canonical(call, (wanted, None))[0],
            rule.canonical(call, (found, None))[0],
        )
        return not all(_equal(a, b) for a, b in zip(wanted, found, strict=True))
    return not all(
        a.shape == b.shape and a.dtype == b.dtype and bool(same(a, b).all())
        for a, b in zip(wanted, found, strict=True)
    )


def _equal(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(((a == b) | ((a != a) & (b != b))).all())


@pytest.mark.parametrize(
    ("rule", "op"), PAIRS, ids=[f"{r.name}-{op.removeprefix('aten::')}" for r, op in PAIRS]
)
def test_ties_are_resolved_as_the_label_says(rule: Rule, op: str) -> None:
    compared, off = 0, []
    for call in _calls(rule, op):
        try:
            wanted = _tensors(call.func(*call.args, **call.kwargs))
        except (RuntimeError, IndexError, ValueError):  # the operator has no answer for it
            continue
        found = _tensors(serving(op, rule.function(op))(*call.args, **call.kwargs))
        compared += 1
        if wrong(rule, call, wanted, found):
            off.append((call.args, call.kwargs, wanted, found))
    assert compared >= 20
    assert off[:1] == []


@pytest.mark.parametrize("op", ["aten::median", "aten::nanmedian", "aten::max", "aten::min"])
def test_a_negative_zero_keeps_its_sign(op: str) -> None:
    (rule,) = [rule for rule in rules() if op in rule.replaces]
    given = torch.tensor([-0.0, -0.0], requires_grad=True)
    found = rule.function(op)(given)
    assert bool(found.signbit())
    (gradient,) = torch.autograd.grad(found, given)
    assert gradient.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("op", ["aten::kthvalue", "aten::median.dim", "aten::mode", "aten::max"])
def test_what_takes_another_of_equal_values_is_not_called_exact(op: str) -> None:
    (rule,) = [rule for rule in rules() if op in rule.replaces]
    assert rule.label is not Label.EXACT
    assert "zeros" in rule.gives_up


def test_mode_is_not_held_in_rows_with_nan_alone() -> None:
    """PyTorch's own result there depends on where NaN stands."""
    (rule,) = [rule for rule in rules() if "aten::mode" in rule.replaces]
    x = torch.tensor([[math.nan, 0.0, 0.0], [1.0, 2.0, 2.0]])
    call = Call(overload_named("aten::mode"), (x, 1), {})
    right = (torch.tensor([0.0, 2.0]), torch.tensor([1, 1]))
    lost = (torch.tensor([math.nan, 2.0]), torch.tensor([0, 2]))
    off = (torch.tensor([0.0, 1.0]), torch.tensor([1, 0]))
    assert not wrong(rule, call, right, lost)
    assert wrong(rule, call, right, off)
