"""What is noticed of a stand-in that is not what it stands for."""

import math

import pytest
import torch
from torch import Tensor

from opcheck.model.plan import Label, Measured
from opcheck.rewrite.call import Call
from opcheck.rewrite.measure import UnmeasuredError, compared, difference, label
from tests.rewrite.reasons import reads

SIN = torch.ops.aten.sin.default
X = torch.tensor([0.5, -1.0, 2.0])


def call(x: Tensor = X) -> Call:
    return Call(SIN, (x,), {})


def test_the_same_is_off_by_nothing_forward_and_backward() -> None:
    forward, backward = compared(call(), torch.sin)
    assert backward is not None
    assert (forward.absolute, backward.absolute) == (0.0, 0.0)


def test_a_lost_gradient_is_noticed() -> None:
    forward, backward = compared(call(), lambda x: torch.sin(x.detach()))
    assert forward.absolute == 0.0
    assert backward is not None
    assert backward.relative == 1.0


def test_a_wrong_gradient_is_noticed() -> None:
    _, backward = compared(call(), lambda x: torch.sin(x.detach()) + x - x.detach())
    assert backward is not None
    assert backward.absolute > 0.1


def test_writing_to_an_argument_is_noticed() -> None:
    def spoils(values: Tensor, other: Tensor) -> Tensor:
        values.add_(1)
        return values + other

    integers = Call(torch.ops.aten.add.Tensor, (torch.arange(3), torch.arange(3)), {})
    with pytest.raises(UnmeasuredError, match=r"the stand-in .* writes to an argument") as raised:
        compared(integers, spoils)
    reads(str(raised.value.__cause__), "it writes to an argument")


@pytest.mark.parametrize("other", [X[:2], X.double(), torch.tensor([0.5, math.nan, 2.0])])
def test_other_shapes_dtypes_and_nan_are_as_far_off_as_can_be(other: Tensor) -> None:
    assert difference([X], [other]).absolute == math.inf


def test_nan_and_infinity_are_equal_to_themselves() -> None:
    x = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    assert difference([x], [x.clone()]).absolute == 0.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_a_zero_of_the_other_sign_is_not_the_same(dtype: torch.dtype) -> None:
    zero = torch.tensor([1.0, 0.0], dtype=dtype)
    other = torch.tensor([1.0, -0.0], dtype=dtype)
    found = difference([zero], [other])
    assert found.absolute > 0
    assert label(Label.EXACT, Measured((), found, None)) is Label.TOLERANCE
    assert difference([zero], [other], zeros=False).absolute == 0.0
