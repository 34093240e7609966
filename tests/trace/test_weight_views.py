"""Views of a weight: autograd notes them also with gradients off, and the exact run too."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from opcheck.trace import trace_model
from opcheck.trace.torch_internals.dispatcher import composite_kind, facts, overload_named

X = torch.ones(2, 4)
Used = Callable[[Tensor, Tensor], Tensor]

VIEWS: dict[str, Used] = {
    "chunk": lambda x, w: x @ w.chunk(3)[1].t(),
    "chunk of a chunk": lambda x, w: x @ w.chunk(3)[1].chunk(2)[0].t(),
    "narrow": lambda x, w: x @ w.narrow(0, 0, 4).t(),
    "narrow from a tensor": lambda x, w: x @ w.narrow(0, torch.tensor(0), 4).t(),
    "split": lambda x, w: x @ w.split(4)[1].t(),
    "tensor_split": lambda x, w: x @ w.tensor_split(3)[1].t(),
    "unbind": lambda x, w: x @ w.unbind(0)[1],
    "unflatten": lambda x, w: x @ w.unflatten(0, (3, 4))[1],
    "slice": lambda x, w: x @ w[:4].mT,
    "detached": lambda x, w: x @ w.chunk(3)[1].detach().t(),
}


class Weighing(nn.Module):
    def __init__(self, used: Used) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(12, 4))
        self.used = used

    def forward(self, x: Tensor) -> Tensor:
        return self.used(x, self.weight)


@pytest.mark.slow
@pytest.mark.parametrize("used", VIEWS.values(), ids=VIEWS)
def test_a_part_of_a_weight_can_be_used(used: Used) -> None:
    sets = {"none": frozenset[str](), "some": frozenset({"aten::as_strided", "aten::slice.Tensor"})}
    trace = trace_model(Weighing(used), (X,), {}, device_type="npu", exact=sets)
    assert (trace.gaps, trace.notes) == ((), ())
    assert {*trace.kernels} == {"none", "some"}


@pytest.mark.slow
def test_a_part_of_a_weight_wants_a_gradient() -> None:
    def used(x: Tensor, weight: Tensor) -> Tensor:
        return x.sin() if weight.chunk(3)[0].requires_grad else x.cos()

    sets = {"none": frozenset[str]()}
    trace = trace_model(Weighing(used), (X,), {}, device_type="npu", exact=sets)
    assert "aten::sin.out" in {str(kernel.op) for kernel in trace.kernels["none"]}


@pytest.mark.parametrize(("op", "noted"), [("chunk", True), ("narrow", True), ("unflatten", False)])
def test_autograd_notes_only_some_composites(op: str, noted: bool) -> None:
    name = f"aten::{op}.int" if op == "unflatten" else f"aten::{op}"
    assert composite_kind(name) == "CompositeImplicitAutograd"
    assert facts(overload_named(name)).noted_view is noted
