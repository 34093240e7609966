"""Every rule for single numbers against its operator, number by number over each dtype's range."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Pointwise, Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, INTEGERS, RandomDraw
from opcheck.rewrite.rules.pointwise.activations import LogSigmoidByLog
from opcheck.rewrite.rules.pointwise.rounding import RoundDecimalsByRound
from opcheck.rewrite.variants import serving
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.elements import (
    LOWEST,
    REDUCED,
    arguments,
    beyond,
    called,
    filled,
    numbers,
    same,
    spaced,
)

DTYPES = (*FLOATS, *INTEGERS)
Named = Mapping[str, Any]


def cases() -> list[tuple[Rule, str]]:
    """Rules that compute each number of the result from one of each argument."""
    return [
        (rule, op)
        for rule in rules()
        if isinstance(rule, (Pointwise, LogSigmoidByLog)) and not rule.random
        for op in rule.replaces
        if op not in REDUCED
    ]


def _given(op: str, drawn: Sequence[Any], dtype: torch.dtype) -> list[Tensor]:
    """Numbers from all over the range, in the places of drawn tensors."""
    given = arguments(sum(isinstance(value, Tensor) for value in drawn), dtype)
    lowest = LOWEST.get(op, -math.inf)
    return [torch.where(x < lowest, x.abs(), x) for x in given] if op in LOWEST else given


def settings(rule: Rule, op: str, dtype: torch.dtype) -> Iterator[tuple[Sequence[Any], Named]]:
    """Every set of other arguments that is drawn for a rule that takes numbers of a dtype."""
    seen: list[object] = []
    for seed in range(40):
        drawn, named = rule.example(op, RandomDraw(seed))
        taken = filled(drawn, [tensor.to("meta") for tensor in _given(op, drawn, dtype)])
        others = ([x for x in drawn if not isinstance(x, Tensor)], named)
        if others not in seen and not rule.refuses(Call(overload_named(op), taken, named)):
            seen.append(others)
            yield drawn, named


def wrong(rule: Rule, op: str, dtype: torch.dtype) -> list[str] | None:
    """The first numbers for which a rule is further off than its label says; None: not taken."""
    found = [
        _far(rule, op, drawn, named, list(map(laid_out, _given(op, drawn, dtype))))
        for drawn, named in settings(rule, op, dtype)
        for laid_out in (Tensor.contiguous, spaced)
    ]
    taken = [places for places in found if places is not None]
    return [place for places in taken for place in places] if taken else None


def _far(
    rule: Rule, op: str, drawn: Sequence[Any], named: Named, given: Sequence[Tensor]
) -> list[str] | None:
    """What is off from what the operator gives, in vectors and one by one: some differ."""
    func = overload_named(op)

    def original(*tensors: Tensor) -> Tensor:
        return called(func, drawn, named, *tensors)

    def one_by_one(*tensors: Tensor) -> Tensor:
        return original(*map(spaced, tensors))

    if rule.label is Label.APPROXIMATE:  # nothing is promised of single numbers
        return []
    allowed = rule.valid(Call(func, tuple(filled(drawn, given)), named))
    given = [value for value in allowed.args if isinstance(value, Tensor)]
    try:
        wanted = original(*given)
    except (RuntimeError, NotImplementedError):  # no kernel of this dtype on the host
        return None
    found = called(serving(op, rule.function(op)), drawn, named, *given)
    assert found.dtype == wanted.dtype
    if wanted.is_complex():
        return []
    tolerance = 0.0 if rule.label is Label.EXACT else rule.tolerance
    lost = beyond(original, [tensor.contiguous() for tensor in given], found, tolerance)
    lost &= beyond(one_by_one, given, found, tolerance)
    far = lost.nonzero().flatten().tolist()
    others = [value for value in drawn if not isinstance(value, Tensor)]
    return [
        f"{[float(t[at % len(t)]) for t in given]} {others} {named}: "
        f"{float(wanted[at])!r}, not {float(found[at])!r}"
        for at in far
    ]


@pytest.mark.parametrize(
    ("rule", "op"), cases(), ids=[f"{r.name}-{op.removeprefix('aten::')}" for r, op in cases()]
)
def test_each_number_is_as_near_as_the_label_says(rule: Rule, op: str) -> None:
    dtypes = (*rule.dtypes, *INTEGERS) if isinstance(rule, Pointwise) else DTYPES
    taken = {dtype: wrong(rule, op, dtype) for dtype in dict.fromkeys(dtypes)}
    assert any(places is not None for places in taken.values())
    assert {dtype: places[:4] for dtype, places in taken.items() if places} == {}


def test_log_sigmoid_of_large_numbers_keeps_its_digits() -> None:
    x = torch.tensor([17.0, 40.0, 80.0])
    replaced = LogSigmoidByLog.replace(x)
    torch.testing.assert_close(replaced, torch.nn.functional.logsigmoid(x), rtol=1e-6, atol=0.0)


def test_the_numbers_reach_over_the_whole_range() -> None:
    for dtype in FLOATS:
        found, limits = numbers(dtype), torch.finfo(dtype)
        assert found.isnan().any()
        assert {float(found[found.isfinite()].max()), -limits.max} == {limits.max, -limits.max}
        zeros = found[found == 0]
        assert zeros.signbit().any()
        assert not zeros.signbit().all()
        assert ((found != 0) & (found.abs() < limits.smallest_normal)).any()
    for dtype in INTEGERS:
        found, info = numbers(dtype), torch.iinfo(dtype)
        assert (int(found.min()), int(found.max())) == (info.min, info.max)


def test_the_judge_sees_what_a_mean_over_a_tensor_hides() -> None:
    x = torch.tensor([0.0, 17.0, 1.0])
    wanted = torch.nn.functional.logsigmoid(x)
    lossy = wanted.clone()
    lossy[1] = 0.0
    assert beyond(torch.nn.functional.logsigmoid, [x], lossy, 64.0).tolist() == [
        False, True, False,
    ]  # fmt: skip
    signs = same(torch.tensor([0.0, -0.0, torch.nan]), torch.tensor([-0.0, -0.0, torch.nan]))
    assert signs.tolist() == [False, True, True]


@pytest.mark.parametrize("decimals", [-400, -308, -3, 0, 3, 40, 308, 309, 400])
def test_any_number_of_decimals_is_rounded_to(decimals: int) -> None:
    """A power of 10 beyond float64 is infinite, here as there, and no error."""
    for dtype in (torch.float32, torch.float64):
        x = numbers(dtype)
        found = RoundDecimalsByRound.replace(x, decimals=decimals)
        assert bool(same(torch.round(x, decimals=decimals), found).all())


def test_polygamma_refuses_orders_that_leave_no_digits() -> None:
    """Far out the zeta function underflows, and n! times what is left of it does not."""
    (rule,) = [rule for rule in rules() if "aten::polygamma" in rule.replaces]
    func = overload_named("aten::polygamma")
    assert not rule.refuses(Call(func, (6, torch.ones(1)), {}))
    assert rule.refuses(Call(func, (7, torch.ones(1)), {})) == "the order is above 6"
