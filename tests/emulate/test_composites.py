"""Composites that the vendor runs whole, where no rule tells what they give."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.emulate.agreement import predict_model
from opcheck.emulate.session import Emulator
from opcheck.model.matrix import SupportMatrix
from tests.emulate.matrices import matrix_of, without

ASCEND = matrix_of("ascend-910b")
LARGE = 5000
"""More floats than those whose values are followed."""


@pytest.mark.slow
def test_sizes_that_values_decide_are_found_in_its_parts() -> None:
    """``where`` of a mask alone gives as many places as it has; its parts say how that is taken."""
    emulator = Emulator("ascend-910b", values=False)
    with emulator as device:
        (places,) = torch.where(torch.ones(LARGE).to(device) > 0)
    assert (places.dtype, tuple(places.shape)) == (torch.int64, (LARGE,))
    asked = {op: count for (op, _), count in emulator.asked.native.items()}
    assert asked["aten::where"] == 1
    assert not {"aten::nonzero", "aten::nonzero_numpy"} & set(asked)


class LabelsTwice(nn.Module):
    """Filters labels by two masks of one signature, and loops over those that are left."""

    def forward(self, scores: Tensor) -> Tensor:
        labels = torch.arange(scores.numel(), device=scores.device) % 7
        for _ in range(2):
            (kept,) = torch.where(scores > 0)
            scores, labels = scores[kept], labels[kept]
        return torch.stack([scores.max() + label for label in torch.unique(labels)])


@pytest.mark.parametrize("matrix", [ASCEND, without(ASCEND, ["where"])], ids=["whole", "parts"])
def test_places_that_are_assumed_are_known_wherever_they_are_found(matrix: SupportMatrix) -> None:
    args = (torch.rand(LARGE),)
    emulator = Emulator(matrix, values=False)
    with emulator as device:
        LabelsTwice()(args[0].to(device))
    asked = {op: n for (op, _), n in emulator.asked.native.items() if op != "aten::_to_copy"}
    predicted = predict_model(LabelsTwice(), args, {}, matrix, None)
    assert {op: n for (op, _), n in predicted.native.items()} == asked
    assert asked["aten::add.Tensor"] == 7


class Products(nn.Module):
    """Batches times what requires a gradient, or a view of that, or a copy, or neither."""

    fixed: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.register_buffer("fixed", torch.randn(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        turned = x.transpose(1, 2)
        for _ in range(2):
            turned = F.linear(turned, self.weight).transpose(1, 2)
            turned = (turned @ self.weight).transpose(1, 2)
            turned = (turned @ self.weight.t()[:, :]).transpose(1, 2)
            turned = (turned @ self.weight.unbind(1)[0].expand(4, 4)).transpose(1, 2)
            turned = (turned @ self.weight.detach()).transpose(1, 2)
            turned = (turned @ self.weight.t().reshape(16).view(4, 4)).transpose(1, 2)
            turned = (turned @ self.fixed).transpose(1, 2)
        return turned


@pytest.mark.slow
def test_products_fold_their_batches_for_what_requires_a_gradient_without_gradients_too() -> None:
    matrix = without(ASCEND, ["linear", "matmul"])
    model, args = Products(), (torch.randn(2, 4, 4),)
    emulator = Emulator(matrix, values=False)
    with emulator as device:
        placed = copy.deepcopy(model).to(device)
        there = args[0].to(device)
        emulator.device.record.cut()
        with torch.no_grad():
            placed(there)
    predicted = predict_model(model, args, {}, matrix, None)
    assert predicted.native == emulator.asked.native
    products = {op: n for (op, _), n in predicted.native.items() if op in ("aten::mm", "aten::bmm")}
    assert products == {"aten::mm": 8, "aten::bmm": 6}
