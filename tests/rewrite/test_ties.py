"""What is left open where values tie, and nothing more."""

import torch
from torch import Tensor

from opcheck.rewrite.call import Call, named_by_value
from opcheck.rewrite.measure import compared
from opcheck.rewrite.rules.indexing.search import BucketizeByCounting
from opcheck.trace.torch_internals.dispatcher import overload_named

TIED = torch.tensor([[1.0, 2.0, 2.0, 3.0], [float("nan"), float("nan"), float("nan"), 0.0]])
KTHVALUE = overload_named("aten::kthvalue")


def _places(*wanted: int) -> Tensor:
    return torch.tensor(wanted)


def _off(places: Tensor) -> tuple[float, float]:
    """How far results and gradients are from kthvalue's where places are named by hand."""

    def named(self: Tensor, k: int, dim: int) -> tuple[Tensor, Tensor]:
        values = self.gather(dim, places.unsqueeze(dim)).squeeze(dim)
        return values, places

    call = Call(KTHVALUE, (TIED, 2, 1), {})
    forward, backward = compared(call, named, named_by_value)
    assert backward is not None
    return forward.absolute, backward.absolute


def test_any_of_equal_values_may_be_named() -> None:
    assert _off(_places(1, 0)) == _off(_places(2, 1)) == _off(_places(2, 2)) == (0.0, 0.0)


def test_another_value_may_not_be_named() -> None:
    forward, backward = _off(_places(3, 0))
    assert forward == 1.0
    assert backward > 0


def test_a_place_outside_is_noticed() -> None:
    call = Call(KTHVALUE, (TIED, 2, 1), {})
    wanted = named_by_value(call, ([TIED[:, 1], _places(1, 1)], None))[0]
    outside = named_by_value(call, ([TIED[:, 1], _places(1, 9)], None))[0]
    assert not torch.equal(outside[1].nan_to_num(), wanted[1].nan_to_num())


def test_a_gradient_in_another_row_is_noticed() -> None:
    def swapped(self: Tensor, k: int, dim: int) -> tuple[Tensor, Tensor]:
        values = self.kthvalue(k, dim).values
        return values.detach() + (self.sum() - self.sum().detach()).nan_to_num(), _places(1, 1)

    call = Call(KTHVALUE, (TIED.nan_to_num(), 2, 1), {})
    _, backward = compared(call, swapped, named_by_value)
    assert backward is not None
    assert backward.absolute > 0


def test_a_rule_makes_random_arguments_valid() -> None:
    """Sorted boundaries are what both ways of searching are asked for."""
    call = Call(
        overload_named("aten::bucketize.Tensor"), (torch.randn(3), torch.tensor([2.0, 1.0])), {}
    )
    valid = BucketizeByCounting().valid(call)
    assert torch.equal(valid.args[1], torch.tensor([1.0, 2.0]))
    assert valid.args[0] is call.args[0]
