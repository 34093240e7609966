"""What is noticed of a stand-in that is not what it stands for."""

import math

import pytest
import torch
from torch import Tensor

from opcheck.model.plan import Label, Measured
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.rewrite.call import Call, named_by_value
from opcheck.rewrite.measure import (
    Originals,
    UnmeasuredError,
    as_drawn,
    as_given,
    compared,
    difference,
    label,
    measured,
)
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


@pytest.mark.parametrize("size", [3, 5])
def test_what_is_off_is_relative_to_the_largest_of_the_wanted(size: int) -> None:
    wanted = torch.arange(size) - 1.0
    off = difference([wanted], [wanted + torch.tensor([0.5, *[0.0] * (size - 1)])])
    assert (off.absolute, off.relative) == (0.5, 0.5 / (size - 2))
    assert difference([torch.zeros(2)], [torch.ones(2)]).relative == math.inf


def test_an_infinity_beside_what_is_off_is_no_largest() -> None:
    wanted, found = torch.tensor([math.inf, 2.0, math.nan]), torch.tensor([math.inf, 1.0, math.nan])
    off = difference([wanted], [found])
    assert (off.absolute, off.relative) == (1.0, 0.5)


def test_what_is_measured_of_one_call_shares_what_the_operator_gives() -> None:
    made: list[Call] = []

    def noted(call: Call) -> Call:
        made.append(call)
        return call

    nodes = [
        Node(OpName.parse("aten::sin"), (("self", TensorMeta("float32", shape, (1,))),))
        for shape in ((3,), (4,))
    ]
    originals = Originals()
    for node, function in ((nodes[0], torch.sin), (nodes[0], torch.cos), (nodes[1], torch.sin)):
        found = measured(node, SIN, function, valid=noted, originals=originals)
        assert found == measured(node, SIN, function)
        assert bool(found.forward.absolute) is (function is torch.cos)
    assert [tuple(call.args[0].shape) for call in made] == [(3,), (4,)]
    kept = originals.of(SIN, nodes[1], noted, as_given)
    assert originals.of(SIN, nodes[1], noted, as_given) is kept
    assert originals.of(SIN, nodes[1], as_drawn, as_given) is not kept


def test_a_dimension_of_one_place_stays_where_results_have_it() -> None:
    x = torch.tensor([[1.0, 2.0], [4.0, 3.0]])
    call = Call(torch.ops.aten.topk.default, (x, 1, -2, True, False), {})
    (values, named), _ = named_by_value(call, ([*torch.topk(x, 1, -2)], None))
    assert torch.equal(named, values)
    gone = Call(torch.ops.aten.max.dim, (x, 0), {})
    (values, named), _ = named_by_value(gone, ([*x.max(0)], None))
    assert torch.equal(named, values)
