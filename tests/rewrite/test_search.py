"""Rules for ``searchsorted`` and ``bucketize`` where boundaries have NaN among them."""

import math

import pytest
import torch

from opcheck.rewrite.rules.indexing.search import (
    BucketizeByCounting,
    bucketize,
    bucketize_by_halving,
    searchsorted_by_halving,
)

VALUES = torch.tensor([-1.0, 0.0, 1.0, 1.5, 2.0, 5.0, math.nan, math.inf])
each_side = pytest.mark.parametrize("right", [False, True])


@each_side
@pytest.mark.parametrize("nans", range(8))
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_halving_meets_the_boundaries_that_pytorch_meets(size: int, nans: int, right: bool) -> None:
    ends = torch.arange(float(size))
    ends[max(size - nans, 0) :] = math.nan
    wanted = torch.bucketize(VALUES, ends, right=right)
    assert torch.equal(bucketize_by_halving(VALUES, ends, right=right), wanted)
    rows = ends.expand(2, size).contiguous()
    values = VALUES.expand(2, len(VALUES)).contiguous()
    wanted = torch.searchsorted(rows, values, right=right)
    assert torch.equal(searchsorted_by_halving(rows, values, right=right), wanted)


@each_side
def test_counting_says_that_it_takes_no_nan_for_a_boundary(right: bool) -> None:
    ends = torch.tensor([0.0, math.nan, math.nan])
    wanted = torch.bucketize(VALUES, ends, right=right)
    assert not torch.equal(bucketize(VALUES, ends, right=right), wanted)
    assert "NaN" in BucketizeByCounting.gives_up
