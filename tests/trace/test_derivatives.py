"""Derivatives that a model takes itself: forward, backward, and one of the other."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, linearize, vmap

import opcheck
from opcheck.model.trace import Gap
from opcheck.trace import trace_model
from opcheck.trace.calls.engine import NOT_FORWARD
from tests.lang.told import in_chinese
from tests.trace.look import calls, traced

X = torch.randn(3, 4)
Derived = Callable[[Callable[..., Any], Tensor], Any]

DERIVED: dict[str, Derived] = {
    "hessian": lambda f, x: hessian(f)(x[0]),
    "forward of forward": lambda f, x: jacfwd(jacfwd(f))(x[0]),
    "forward of backward": lambda f, x: jacfwd(jacrev(f))(x[0]),
    "backward of forward": lambda f, x: jacrev(jacfwd(f))(x[0]),
    "backward of backward": lambda f, x: jacrev(jacrev(f))(x[0]),
    "hessian of each row": lambda f, x: vmap(hessian(f))(x),
    "product with a hessian": lambda f, x: jvp(grad(f), (x[0],), (x[1],)),
    "forward": lambda f, x: jvp(f, (x,), (x,)),
}


class Derivative(nn.Module):
    """What is derived has a matrix product, a broadcast and a sum of several terms."""

    def __init__(self, derived: Derived) -> None:
        super().__init__()
        self.derived = derived
        self.layer = nn.Linear(4, 4)

    def value(self, x: Tensor) -> Tensor:
        bent: Tensor = self.layer(x).sin()
        return (bent * x).sum()

    def forward(self, x: Tensor) -> Any:
        return self.derived(self.value, x)


@pytest.mark.slow
@pytest.mark.parametrize("derived", DERIVED.values(), ids=DERIVED)
def test_derivatives_of_derivatives_are_seen(derived: Derived) -> None:
    """Also in the exact run, which takes apart what the other takes whole."""
    trace = trace_model(Derivative(derived), (X,), {}, device_type="npu", exact={"a": frozenset()})
    assert trace.gaps == ()
    assert {"aten::sin", "aten::cos"} <= {*calls(trace)}


class PerSample(nn.Module):
    """The gradients of each row alone, whose loss broadcasts."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        def loss(weights: dict[str, Tensor], row: Tensor) -> Tensor:
            return nn.functional.mse_loss(functional_call(self.layer, weights, (row,)), row)

        return vmap(grad(loss), (None, 0))(dict(self.layer.named_parameters()), x)


@pytest.mark.slow
def test_gradients_of_each_row_are_trained_where_composites_are_listened_to() -> None:
    report = opcheck.scan(PerSample(), (X,), targets=["ascend-910b"], train=True)
    assert report.trace.gaps == ()


def test_zeros_without_memory_have_values_here() -> None:
    """C++ makes such zeros for what has no tangent, and every kernel that reads them wants some."""

    def model(x: Tensor) -> Tensor:
        zeros = torch._efficientzerotensor((4,), device=x.device)
        return torch.exp(x) if bool((zeros + 1).sum() == 4) else torch.sin(x)

    trace = traced(model, X)
    assert "aten::exp" in calls(trace)
    assert trace.gaps == ()


def _dual(x: Tensor) -> Any:
    with forward_ad.dual_level():
        made = torch.sin(forward_ad.make_dual(x, torch.ones_like(x)))
        return forward_ad.unpack_dual(made).tangent


def _linear(x: Tensor) -> Any:
    return linearize(torch.sin, x)[1](x)


@pytest.mark.slow
@pytest.mark.parametrize("model", [_dual, _linear])
def test_what_a_scan_cannot_derive_is_one_gap_with_a_reason(model: Callable[..., Any]) -> None:
    trace = traced(model, X)
    assert trace.gaps == (Gap("(the model)", NOT_FORWARD),)
    assert in_chinese([NOT_FORWARD]) == [
        "不跟踪 torch.autograd.forward_ad 与 torch.func.linearize 的前向模式导数；torch.func.jvp "
        "的可以跟踪，opcheck emulate 全部都能运行"
    ]
    assert "aten::sin" in calls(trace)
