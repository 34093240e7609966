"""In-place and ``out=`` forms by way of the one that gives a new result."""

from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.variants import functional, serving


@pytest.mark.parametrize(
    ("op", "found"),
    [
        ("aten::isin.Tensor_Tensor", "aten::isin.Tensor_Tensor"),
        ("aten::isin.Tensor_Tensor_out", "aten::isin.Tensor_Tensor"),
        ("aten::nanmedian.dim_values", "aten::nanmedian.dim"),
        ("aten::lgamma_", "aten::lgamma"),
        ("aten::digamma.out", "aten::digamma"),
        ("aten::scatter.reduce_out", "aten::scatter.reduce"),
        ("aten::scatter_reduce.two_out", "aten::scatter_reduce.two"),
        ("aten::fmax.out", "aten::fmax"),
        ("aten::copy_", "aten::copy"),
        ("aten::nothing_like_it", ""),
        ("other::thing", ""),
    ],
)
def test_the_form_that_writes_nothing(op: str, found: str) -> None:
    assert functional(op) == found


def double(self: Tensor) -> Tensor:
    return self * 2


def halves(self: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    return self / 2, self.new_zeros(self.shape, dtype=torch.int64)


def test_an_in_place_form_writes_its_argument_and_gives_it_back() -> None:
    x = torch.tensor([1.0, 2.0])
    assert serving("aten::lgamma_", double)(x) is x
    assert x.tolist() == [2.0, 4.0]


def test_an_out_form_takes_the_size_of_its_result() -> None:
    out = torch.empty(0)
    assert serving("aten::lgamma.out", double)(torch.tensor([1.0, 2.0]), out=out) is out
    assert out.tolist() == [2.0, 4.0]


def test_several_outputs_go_each_to_its_place() -> None:
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    given = serving("aten::nanmedian.dim_values", halves)(
        torch.tensor([1.0, 2.0]), 0, values=values, indices=indices
    )
    assert given[0] is values
    assert given[1] is indices
    assert (values.tolist(), indices.tolist()) == ([0.5, 1.0], [0, 0])


def test_one_that_writes_nothing_is_served_by_the_function_itself() -> None:
    assert serving("aten::lgamma", double) is double
