"""Gradients and optimizers on the emulated device, compared with the host's."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from tests.emulate.conftest import opened
from tests.emulate.outcome import HOST, Raised, outcome
from tests.emulate.training import ENDS, OPTIMIZERS, PIECES, gradients, network, numbers, stepped


@pytest.fixture(scope="module", name="device")
def open_for_all() -> Iterator[torch.device]:
    yield from opened(True)


@pytest.mark.parametrize("name", PIECES)
def test_gradients_are_those_of_the_host(device: torch.device, name: str) -> None:
    found, expected = PIECES[name](device), PIECES[name](HOST)
    torch.testing.assert_close(brought_back(found), brought_back(expected), equal_nan=True)


def brought_back(value: Any) -> Any:
    """With the tensors of a nested value on the host."""
    return tree_map_only(Tensor, lambda t: t.detach().cpu(), value)


@pytest.mark.parametrize("name", ENDS)
def test_a_mistake_in_backward_raises_torchs_own_error(device: torch.device, name: str) -> None:
    expected = outcome(ENDS[name], HOST)
    assert isinstance(expected, Raised)
    assert outcome(ENDS[name], device).kind is expected.kind
    assert outcome(PIECES["gradients_of_gradients"], device) == outcome(
        PIECES["gradients_of_gradients"], HOST
    )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_goes_where_it_goes_on_the_host(device: torch.device, name: str) -> None:
    found, expected = stepped(device, OPTIMIZERS[name]), stepped(HOST, OPTIMIZERS[name])
    torch.testing.assert_close(brought_back(found), brought_back(expected))


def test_gradients_agree_with_finite_differences(device: torch.device) -> None:
    x = numbers(device, 3, 2)
    with pytest.warns(UserWarning, match="double precision"):
        assert torch.autograd.gradcheck(lambda x: x.sin() * x, (x,), eps=1e-2, atol=1e-2)


def test_a_mistake_in_a_users_backward_is_raised_where_backward_was_called(
    device: torch.device,
) -> None:
    class Mistaken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *given: Tensor) -> Tensor:
            return given[0] @ torch.ones(7, 7, device=given[0].device)

    mistaken: Any = Mistaken
    x = numbers(device, 2, 2)
    with pytest.raises(RuntimeError, match="cannot be multiplied") as caught:
        mistaken.apply(x).sum().backward()
    assert str(caught.traceback[0].path) == __file__
    x.exp().sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), numbers(HOST, 2, 2).exp())


def test_scaled_gradients_are_unscaled_and_a_step_that_overflows_is_skipped(
    device: torch.device,
) -> None:
    model, scaler = network(device), torch.amp.GradScaler("npu", init_scale=64.0)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    before = brought_back(list(model.parameters()))
    with torch.autocast("npu", dtype=torch.float16):
        loss = model(numbers(device, 5, 4)).float().pow(2).mean()
    scaler.scale(loss * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 32.0
    torch.testing.assert_close(brought_back(list(model.parameters())), before)
    scaler.unscale_(optimizer)
    assert not all(g is None or bool(g.isfinite().all()) for g in gradients(model))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.second = nn.Linear(2, 2)
        self.second.weight = self.first.weight


@pytest.mark.slow
def test_moving_a_module_keeps_its_parameters_as_the_vendor_has_it(device: torch.device) -> None:
    """torch_npu registers that a tensor of the host can become one of the device.

    So ``Module.to`` sets ``data``: parameters stay tied, and an optimizer made before holds them.
    """
    model = Tied()
    weight = model.first.weight
    moved = model.to(device)
    assert moved is model
    assert model.first.weight is weight
    assert model.second.weight is weight
    assert weight.device == device
    for parameter in model.parameters():
        assert isinstance(parameter, nn.Parameter)
        assert parameter.is_leaf
        assert parameter.requires_grad


@pytest.mark.slow
def test_a_module_moves_and_changes_its_dtype(device: torch.device) -> None:
    model: Any = nn.Linear(2, 2)
    weight = model.weight.detach().clone()
    assert model.npu().half().weight.dtype is torch.float16
    assert model.float().cpu().weight.device == HOST
    torch.testing.assert_close(model.weight, weight, atol=1e-3, rtol=0)
    assert copy.deepcopy(model.to(device)).weight.device == device
