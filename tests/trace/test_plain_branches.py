"""What PyTorch's C++ asks of plain tensors: what it would not of tensors that Python watches."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor
from torch.autograd.profiler import profile
from torch.nn import functional

from opcheck.model.trace import Phase
from opcheck.trace import trace_model
from opcheck.trace.predict import Predictor, predicting
from opcheck.trace.running.training import Registrations

KERNELS = (
    "aten::_linalg_eigvals", "aten::linalg_eig", "aten::_reshape_alias", "aten::view",
    "aten::add.Tensor", "aten::add_.Tensor", "aten::scatter.src", "aten::scatter_.src",
)  # fmt: skip
SQUARE = torch.rand(3, 3)


@pytest.fixture(scope="module")
def predictor() -> Iterator[Predictor]:
    with predicting("npu", Registrations(frozenset(KERNELS))) as predictor:
        yield predictor


def asked(
    predictor: Predictor, call: Callable[[Tensor], object], x: Tensor, backward: bool = False
) -> dict[str, int]:
    """Everything of the device's that the last phase comes to."""
    found = predictor.call(call, (x,), {}, backward=backward)
    phase = Phase.BACKWARD if backward else Phase.FORWARD
    return {str(k.op).removeprefix("aten::"): k.count for k in found.kernels if k.phase is phase}


def test_eigenvalues_alone_are_asked_for_where_no_gradient_follows(predictor: Predictor) -> None:
    assert asked(predictor, torch.linalg.eigvals, SQUARE) == {"_linalg_eigvals": 1}
    with_gradient = SQUARE.clone().requires_grad_()
    found = predictor.call(torch.linalg.eigvals, (with_gradient,), {}, backward=True)
    assert "aten::linalg_eig" in {str(k.op) for k in found.kernels if k.phase is Phase.FORWARD}


def test_a_reshape_is_an_alias(predictor: Predictor) -> None:
    x = torch.rand(2, 3, 4).transpose(0, 1)
    assert asked(predictor, lambda t: t.reshape(3, 2, 2, 2), x) == {"_reshape_alias": 1}


@pytest.mark.parametrize(("device_type", "asked"), [("xla", "view"), ("cuda", "_reshape_alias")])
def test_a_reshape_is_a_view_on_xla_alone(device_type: str, asked: str) -> None:
    x = torch.rand(2, 3, 4).transpose(0, 1)
    trace = trace_model(lambda t: t.reshape(3, 2, 2, 2), (x,), {}, device_type=device_type)
    (reshape,) = (node for node in trace.nodes if str(node.op) == "aten::reshape")
    assert [str(trace.nodes[at].op) for at, _ in reshape.children or ()] == [f"aten::{asked}"]


def test_the_gradient_of_a_maximum_is_scattered_in_place(predictor: Predictor) -> None:
    x = SQUARE.clone().requires_grad_()
    found = asked(predictor, lambda t: t.max(dim=0).values, x, backward=True)
    assert found["scatter_.src"] == 1
    assert "scatter.src" not in found


@pytest.mark.parametrize(
    "call",
    [functional.normalize, lambda t: t * t.exp() * t.sin(), lambda t: t.softmax(0) + t.cumsum(0)],
    ids=["normalize", "product", "sum"],
)
def test_gradients_are_added_up_as_plain_tensors_are(
    predictor: Predictor, call: Callable[[Tensor], Tensor]
) -> None:
    """The CPU's tensors are plain, too, and autograd is the same."""
    x = SQUARE.clone().requires_grad_()
    found = asked(predictor, call, x, backward=True)
    output = call(x)
    with profile() as seen:
        torch.autograd.backward([output], [torch.ones_like(output)])
    cpu = {event.key: event.count for event in seen.key_averages()}
    added = found.get("add_.Tensor", 0), found.get("add.Tensor", 0)
    assert added == (cpu.get("aten::add_", 0), cpu.get("aten::add", 0))
    assert sum(added) > 0


def test_a_gradient_by_transform_takes_composites_apart_as_autograd_does(
    predictor: Predictor,
) -> None:
    def call(x: Tensor) -> object:
        return torch.func.grad(lambda t: functional.linear(t @ t, x).sum())(x)

    found = asked(predictor, call, SQUARE)
    with profile() as seen:
        call(SQUARE)
    products = {event.key: event.count for event in seen.key_averages()}["aten::mm"]
    assert found["mm.out"] == products > 2
    assert not [name for name in found if "backward" in name]
