"""Python code that autograd calls on the device's thread: it may raise, and the process lives."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

import opcheck


@pytest.fixture
def device() -> Iterator[torch.device]:
    with opcheck.emulate("ascend-910b") as opened:
        yield opened


def _model(device: torch.device) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4)).to(device)


def _broken(*_: Tensor) -> Tensor:
    raise ZeroDivisionError("in a hook")


@pytest.mark.slow
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpointed_layer_has_the_gradients_of_a_plain_one(
    device: torch.device, reentrant: bool
) -> None:
    x = torch.randn(2, 4, device=device, requires_grad=True)
    model = _model(device)
    model(x).sum().backward()
    expected, x.grad = x.grad, None
    checkpoint(model, x, use_reentrant=reentrant).sum().backward()
    assert expected is not None
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), expected.cpu())


@pytest.mark.slow
def test_a_tensor_hook_that_raises_raises_from_backward(device: torch.device) -> None:
    x = torch.randn(2, 4, device=device, requires_grad=True)
    y = _model(device)(x)
    y.register_hook(_broken)
    with pytest.raises(ZeroDivisionError, match="in a hook"):
        y.sum().backward()


@pytest.mark.slow
def test_a_hook_on_an_accumulated_gradient_that_raises_raises_from_backward(
    device: torch.device,
) -> None:
    x = torch.randn(2, 4, device=device, requires_grad=True)
    x.register_post_accumulate_grad_hook(_broken)
    with pytest.raises(ZeroDivisionError, match="in a hook"):
        _model(device)(x).sum().backward()


@pytest.mark.slow
def test_a_saved_tensor_that_cannot_be_unpacked_raises_from_backward(device: torch.device) -> None:
    x = torch.randn(2, 4, device=device, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, _broken):
        y = _model(device)(x)
    with pytest.raises(ZeroDivisionError, match="in a hook"):
        y.sum().backward()


@pytest.mark.slow
def test_the_device_works_on_after_a_hook_raised(device: torch.device) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    y = x * 2
    y.register_hook(_broken)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


@pytest.mark.slow
def test_a_hook_may_change_a_gradient(device: torch.device) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    x.register_hook(lambda grad: grad * 10)
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [20.0, 20.0, 20.0]
