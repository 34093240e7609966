"""A share of what ``python -m benchmarks.labels`` tries: labels that hold over whole ranges."""

import math
import os

import pytest
import torch
from torch import Tensor

from benchmarks.labels import calls, single
from benchmarks.labels.near import as_the_operator, near
from benchmarks.labels.numbers import BITS, WideDraw, numbers
from opcheck.rewrite.base import Rule
from opcheck.rewrite.draw import INTEGERS
from tests.whole import WHOLE

SEED = int(os.environ.get("OPCHECK_LABELS_SEED", "1"))
"""Of which numbers are drawn; another one tries others."""
SHARE = 1 if WHOLE else 12
"""One rule of so many is tried, others for another seed."""
SINGLE = single.cases()[SEED % SHARE :: SHARE]
CALLS = calls.cases()[SEED % SHARE :: SHARE]


def _names(cases: list[tuple[Rule, str]]) -> list[str]:
    return [f"{rule.name}-{op.removeprefix('aten::')}" for rule, op in cases]


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "op"), SINGLE, ids=_names(SINGLE))
def test_each_number_of_a_range_is_as_near_as_the_label_says(rule: Rule, op: str) -> None:
    assert list(single.breaks(rule, op, 5000, SEED)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "op"), CALLS, ids=_names(CALLS))
def test_calls_with_values_of_every_size_are_as_near_as_the_label_says(rule: Rule, op: str) -> None:
    assert list(calls.breaks(rule, op, 20, SEED)) == []


@pytest.mark.parametrize("dtype", [*BITS, *INTEGERS])
def test_numbers_reach_over_the_whole_range(dtype: torch.dtype) -> None:
    found = numbers(dtype, 1000, 0)
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        assert (int(found.min()), int(found.max())) == (info.min, info.max)
        return
    limits = torch.finfo(dtype)
    assert {math.inf, -math.inf, limits.max, limits.min} <= set(found.tolist())
    assert found.isnan().any()
    assert found[found == 0].signbit().unique().tolist() == [False, True]
    assert ((found != 0) & (found.abs() < limits.smallest_normal)).any()


def test_of_16_bits_every_number_is_there() -> None:
    found = numbers(torch.bfloat16, 0, 0)
    assert len(found[~found.isnan()].view(torch.int16).unique()) == 2**16 - 2 * (2**7 - 1)


def test_drawn_calls_have_values_of_every_size() -> None:
    drawn = [WideDraw(seed, any_bits=False).tensor([5], [torch.float32]) for seed in range(200)]
    largest = [float(x[x.isfinite()].abs().max()) for x in drawn if x.isfinite().any()]
    assert min(size for size in largest if size) < 1e-30
    assert max(largest) > 1e15


def test_one_number_that_is_off_is_found() -> None:
    x = torch.tensor([0.5, 1e-30, 30.0])
    found = torch.expm1(x)
    found[1] = 0.0
    assert as_the_operator(torch.expm1, [x], found, 4.0).tolist() == [True, False, True]


def test_what_float64_tells_is_no_break() -> None:
    """PyTorch's own kernel may have lost digits that a rule keeps."""

    def lossy(x: Tensor) -> Tensor:
        return x.exp() - 1 if x.dtype == torch.float32 else torch.expm1(x)

    x = torch.tensor([1e-5, 2e-5])
    assert not near(lossy, [x], torch.expm1(x), 4.0).any()
    assert as_the_operator(lossy, [x], torch.expm1(x), 4.0).all()


def test_a_zero_of_the_other_sign_is_not_exact() -> None:
    x = torch.tensor([-0.0, 0.0])
    assert near(lambda x: x, [x], x.abs(), 0.0).tolist() == [False, True]
