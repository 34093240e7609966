"""Tensors spread over others in one dimension, beside what ExecuTorch 1.4.1's runtime did of them.

A product of each pair was really lowered and run: it was refused, or gave the values.
"""

from itertools import product

import pytest
import torch

from opcheck.model.predicates import Outside
from opcheck.model.spreads import LostDimensions, beside_squeezed
from tests.db.calls import dense, node

KEPT = LostDimensions("self", Outside(maximum=0))


@pytest.mark.parametrize(
    ("one", "other", "refused"),
    [
        ((1, 8, 1), (8, 5), True),
        ((8, 5), (1, 8, 1), True),
        ((1, 3, 8, 1), (3, 8, 5), True),
        ((1, 3, 1, 5), (3, 8, 5), True),
        ((2, 3), (1, 1, 3), True),
        ((1, 1, 3), (2, 3), True),
        ((1, 8, 4, 1, 8, 4), (8, 4, 6, 8, 4), True),
        ((1, 8, 1), (1, 8, 5), False),
        ((1, 1, 1), (8, 5), False),
        ((1, 8, 5), (8, 5), False),
        ((1, 8, 1), (8, 1), False),
        ((1, 1, 8), (5, 1), False),
    ],
)
def test_a_result_with_fewer_dimensions_is_what_the_runtime_refuses(
    one: tuple[int, ...], other: tuple[int, ...], refused: bool
) -> None:
    call = node("aten::mul.Tensor", self=dense(*one), other=dense(*other))
    assert (KEPT.match(call) is not None) is refused


def test_a_number_is_not_spread() -> None:
    assert KEPT.match(node("aten::mul.Tensor", self=dense(1, 8, 1), other=2)) is None
    assert KEPT.match(node("aten::mul.Tensor", self=dense(1, 8, 1))) is None


@pytest.mark.parametrize("sizes", [*product((1, 2, 3), repeat=3)], ids=str)
def test_sizes_beside_those_without_ones_come_to_what_torch_makes_of_them(
    sizes: tuple[int, ...],
) -> None:
    try:
        found = torch.broadcast_shapes(sizes, torch.empty(sizes).squeeze().shape)
    except RuntimeError:
        assert beside_squeezed(sizes) == "refused"
    else:
        assert beside_squeezed(sizes) == ("the same" if found == sizes else "larger")
