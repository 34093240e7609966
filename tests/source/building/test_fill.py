"""Tensors without values get plausible ones; those with values keep them."""

import torch
from torch import Tensor, nn

from opcheck.source.base import RANDOM_WEIGHTS
from opcheck.source.building.fill import fill, fill_unwritten, plausible


class Parts(nn.Module):
    """Layers with an initialisation of their own, bare parameters, tied ones, a plain tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(4)
        self.one = nn.Linear(300, 300)
        self.two = nn.Linear(300, 300)
        self.two.weight = self.one.weight
        self.bare = nn.Parameter(torch.empty(300, 300))
        self.kept = {"here": [torch.arange(3)], "there": [torch.ones(2)]}


def test_layers_initialise_themselves_and_sharing_is_kept() -> None:
    with torch.device("meta"):
        module = Parts()
    assert fill(module) == (RANDOM_WEIGHTS,)
    held = (*module.parameters(), *module.buffers())
    assert not any(tensor.is_meta for tensor in held)
    assert module.one.weight is module.two.weight
    bound = 300**-0.5
    assert 0.9 * bound < float(module.one.weight.detach().abs().max()) <= bound
    state = {name: value.flatten()[0].item() for name, value in module.norm.state_dict().items()}
    assert state == {
        "weight": 1, "bias": 0, "running_mean": 0, "running_var": 1, "num_batches_tracked": 0
    }  # fmt: skip
    assert module.bare.requires_grad
    assert abs(float(module.bare.detach().std()) * 300**0.5 - 1) < 0.1
    assert not any(tensor.is_meta for row in module.kept.values() for tensor in row)


def test_what_has_values_keeps_them_beside_what_has_none() -> None:
    module = nn.Linear(300, 300)
    bias = module.bias.detach().clone()
    module.weight = nn.Parameter(torch.empty(300, 300, device="meta"), requires_grad=False)
    note = "the source has no values for weight (1): they are made up"
    assert fill(module) == (note,)
    assert torch.equal(module.bias, bias)
    assert not module.weight.requires_grad
    assert fill(module) == ()


def test_only_what_nobody_wrote_is_filled() -> None:
    module = nn.Linear(4, 4)
    with torch.no_grad():
        module.weight[1:] = torch.nan
        module.weight[0] = 7
    assert fill_unwritten(module) == ("the source has no values for weight (1): they are made up",)
    assert module.weight[0].eq(7).all()
    assert module.weight.isfinite().all()
    assert fill_unwritten(module) == ()


def made(name: str, like: Tensor, *, weight: bool = True) -> Tensor:
    return plausible(name, like, torch.Generator().manual_seed(0), weight=weight)


def test_values_are_chosen_by_what_a_tensor_is_for() -> None:
    row, table = torch.empty(3, device="meta"), torch.empty(4, 3, device="meta")
    assert made("norm.weight", row).tolist() == [1, 1, 1]
    assert made("norm.bias", row).tolist() == [0, 0, 0]
    assert made("running_var", row, weight=False).tolist() == [1, 1, 1]
    assert made("ids", row.long(), weight=False).tolist() == [0, 0, 0]
    assert made("table", table, weight=False).eq(1).all()
    assert made("weight", table.t()).stride() == (1, 3)
    assert torch.equal(made("weight", table), made("weight", table))
