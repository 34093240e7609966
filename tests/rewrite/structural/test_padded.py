"""Results of a size that is chosen, beside those of a size that depends on values."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from opcheck.rewrite.structural.fixed_size import (
    masked_select_padded,
    nonzero_padded,
    repeat_interleave_padded,
    unique_padded,
)

SHAPES = st.lists(st.integers(0, 4), max_size=3)
SIZES = st.integers(1, 70)
plain = settings(max_examples=60, deadline=None, derandomize=True)


def drawn(shape: list[int], seed: int) -> torch.Tensor:
    return torch.randint(-1, 2, shape, generator=torch.Generator().manual_seed(seed))


def agree(pair: tuple[torch.Tensor, torch.Tensor], wanted: torch.Tensor, size: int) -> None:
    """The first results are the operator's, as many as fit; the rest is marked."""
    found, valid = pair
    assert (len(found), len(valid)) == (size, size)
    assert torch.equal(found[valid], wanted[:size])
    assert torch.equal(valid, torch.arange(size) < len(wanted))


@plain
@given(SHAPES, SHAPES, st.integers(0, 99), SIZES)
def test_what_a_mask_selects(shape: list[int], rest: list[int], seed: int, size: int) -> None:
    mask = drawn(shape, seed) > 0
    x = torch.arange(mask.numel() * torch.Size(rest).numel()).reshape([*shape, *rest])
    agree(masked_select_padded(x, mask, size), x[mask], size)


@plain
@given(SHAPES, st.integers(0, 99), SIZES)
def test_places_that_are_not_zero(shape: list[int], seed: int, size: int) -> None:
    x = drawn(shape, seed)
    agree(nonzero_padded(x, size), x.nonzero(), size)


@plain
@given(SHAPES, st.integers(0, 99), SIZES)
def test_distinct_values(shape: list[int], seed: int, size: int) -> None:
    x = drawn(shape, seed)
    agree(unique_padded(x, size), x.unique(), size)


@plain
@given(st.integers(0, 6), st.integers(0, 99), SIZES)
def test_repeated_places(count: int, seed: int, size: int) -> None:
    repeats = drawn([count], seed) + 1
    agree(repeat_interleave_padded(repeats, size), torch.repeat_interleave(repeats), size)
