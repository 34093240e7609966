"""Histograms of integers, which the host has no kernel for, compared with counting one by one."""

import pytest
import torch

from opcheck.rewrite.base import rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import INTEGERS, RandomDraw
from opcheck.rewrite.rules.reductions.histc import histc, histc_by_comparing
from opcheck.rewrite.rules.reductions.histograms import bincount
from opcheck.trace.torch_internals.dispatcher import overload_named

(RULE,) = (rule for rule in rules() if rule.name == "histc-by-counting")
OP = overload_named("aten::histc")


def one_by_one(values: list[int], bins: int, low: int, high: int) -> list[int]:
    """What a device's kernel counts, in integers throughout."""
    counts = [0] * bins
    for value in values:
        if low <= value <= high:
            counts[min((value - low) * bins // (high - low), bins - 1)] += 1
    return counts


@pytest.mark.parametrize("seed", range(60))
def test_integers_are_counted_in_their_bins(seed: int) -> None:
    draw = RandomDraw(seed)
    x = draw.tensor(dtypes=INTEGERS)
    low, bins = draw.integer(-4, 4), draw.integer(1, 30)
    high = low + draw.integer(1, 9)
    assert not RULE.refuses(Call(OP, (x, bins, low, high), {}))
    found = histc(x, bins, low, high)
    assert found.dtype == x.dtype
    assert found.tolist() == one_by_one(x.reshape(-1).tolist(), bins, low, high)
    compared = histc_by_comparing(x, bins, low, high)
    assert torch.equal(compared, found)
    assert compared.dtype == x.dtype


def test_integers_at_the_edge_of_float32_are_counted_in_their_bins() -> None:
    low, high, bins = -(2**21), 2**21 - 1, 3
    values = [low - 1, low, low + 1, -1, 0, 1398100, 1398101, high - 1, high, high + 1, 2**24 + 1]
    x = torch.tensor(values)
    assert not RULE.refuses(Call(OP, (x, bins, low, high), {}))
    assert histc(x, bins, low, high).tolist() == one_by_one(values, bins, low, high)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((4,), "it counts integers only in a range of integers that is given"),
        ((4, 0.5, 2), "it counts integers only in a range of integers that is given"),
        ((4, 0, 2**23), "so many integers, or such large ones, are not exact in float32"),
        ((4, 2**24, 2**24 + 1), "so many integers, or such large ones, are not exact in float32"),
        ((0, 0, 2), "there are no bins"),
    ],
)
def test_what_float32_would_count_wrong_is_refused(given: tuple[float, ...], reason: str) -> None:
    assert RULE.refuses(Call(OP, (torch.arange(3), *given), {})) == reason


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_no_values_are_counted_in_integers_whatever_their_weights_are(dtype: torch.dtype) -> None:
    none = torch.zeros(0, dtype=torch.int64)
    weights = torch.zeros(0, dtype=dtype)
    wanted = torch.bincount(none, weights, minlength=3)
    found = bincount(none, weights, 3)
    assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())
