"""Batching gives what single calls give, whatever the inputs, in no more calls than shapes ask."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from opcheck.errors import UsageError
from opcheck.runtime import Inferencer
from opcheck.runtime.batching import Call, groups, joined, parted


class Counting(nn.Module):
    """Elementwise and along the last dimension, so that rows know nothing of each other."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []

    def forward(self, x: Tensor, scale: float = 1.0, *, bias: Tensor | None = None) -> Any:
        self.calls.append(x.shape[0])
        made = x * scale if bias is None else x * scale + bias
        return {"all": made, "sums": (made.sum(-1), [made.amax(-1)])}


WIDTHS = st.integers(1, 4)
ITEMS = st.lists(
    st.tuples(
        st.integers(0, 4),  # rows
        WIDTHS,
        st.sampled_from([torch.float32, torch.float64, torch.int64]),
        st.sampled_from([1.0, 2.0]),
        st.booleans(),
    ),
    max_size=12,
)


def made(rows: int, width: int, dtype: torch.dtype, scale: float, biased: bool) -> Any:
    x = (torch.randn(rows, width) * 10).to(dtype)
    named = {"bias": torch.ones(rows, width, dtype=dtype)} if biased else {}
    return (x, scale), named


@pytest.mark.slow
@given(ITEMS, st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_a_batch_gives_what_single_calls_give(items: Any, most: int) -> None:
    torch.manual_seed(0)
    model = Counting()
    calls = [made(*item) for item in items]
    with Inferencer(model, device="cpu") as infer:
        together = infer.batch(calls, max_batch=most)
        sizes, model.calls = model.calls, []
        alone = [infer(*args, **named) for args, named in calls]
    torch.testing.assert_close(together, alone, rtol=0, atol=0)
    assert sum(sizes) == sum(model.calls)
    assert all(size <= max(most, *model.calls) for size in sizes)


@given(ITEMS, st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_groups_hold_every_call_once_and_only_what_is_alike(items: Any, most: int) -> None:
    calls = [Call.of(made(*item)) for item in items]
    found = groups(calls, most)
    assert sorted(position for group in found for position in group) == list(range(len(calls)))
    for group in found:
        assert group == sorted(group)
        assert len({items[position][1:] for position in group}) == 1
        assert len(group) == 1 or sum(calls[position].rows for position in group) <= most


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), WIDTHS)
def test_what_was_joined_is_parted_again(rows: list[int], width: int) -> None:
    calls = [Call.of({"x": torch.randn(count, width)}) for count in rows]
    back = parted(joined(calls).kwargs, rows)
    torch.testing.assert_close(back, [dict(call.kwargs) for call in calls], rtol=0, atol=0)


def test_equal_shapes_go_in_one_call() -> None:
    model = Counting()
    with Inferencer(model, device="cpu") as infer:
        infer.batch([torch.zeros(1, 2), torch.zeros(1, 3), torch.zeros(2, 2)], max_batch=8)
    assert model.calls == [3, 1]


def test_another_scale_is_another_call() -> None:
    calls = [Call.of((torch.zeros(1, 2), scale)) for scale in (1, 1.0, True, 1)]
    assert groups(calls, 8) == [[0, 3], [1], [2]]


@dataclass
class Pair:
    left: Tensor
    right: Tensor
    note: str = ""


def test_records_are_joined_by_their_fields() -> None:
    def pair(rows: int, note: str = "") -> Call:
        return Call.of((Pair(torch.ones(rows, 2), torch.zeros(rows, 3), note),))

    assert groups([pair(1), pair(2), pair(1, "other")], 8) == [[0, 1], [2]]
    (whole,) = joined([pair(1), pair(2)]).args
    assert (whole.left.shape, whole.right.shape) == ((3, 2), (3, 3))


def test_an_input_without_common_rows_goes_alone() -> None:
    mask = torch.ones(4, 4)
    calls = [Call.of((torch.zeros(1, 2), mask)), Call.of((torch.zeros(1, 2), mask)), Call.of(())]
    assert groups(calls, 8) == [[0], [1], [2]]


class Mean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean()


def test_results_without_rows_are_made_one_by_one_and_told() -> None:
    inputs = [torch.full((2, 2), float(value)) for value in range(3)]
    told = pytest.warns(RuntimeWarning, match="one by one")
    with Inferencer(Mean(), device="cpu") as infer, told:
        found = infer.batch(inputs)
    assert [value.item() for value in found] == [0.0, 1.0, 2.0]


def test_a_batch_of_none_is_refused() -> None:
    with Inferencer(Mean(), device="cpu") as infer:
        assert infer.batch([]) == []
        with pytest.raises(UsageError, match="max_batch is 0"):
            infer.batch([torch.zeros(1)], max_batch=0)
