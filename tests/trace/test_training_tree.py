"""The tree of a training step, compared with the kernels that the same step is counted to ask."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from opcheck.model.trace import Composite, Kernel, Phase, Trace, Use
from opcheck.trace.run import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.trace.test_exact import SETS
from tests.trace.test_training import GRADIENTS, OVERRIDES
from tests.trace.training_side import without_dropout

HERE = f"tests/trace/{Path(__file__).name}"


def traced(
    model: nn.Module,
    args: Any,
    kwargs: Any,
    kernels: frozenset[str],
    gradients: Mapping[str, tuple[str, ...]] = {},  # nobody writes to it
) -> Trace:
    given = Registrations(kernels, OVERRIDES & kernels, gradients)
    return trace_model(
        model, args, kwargs, device_type="npu", training=Training(TrainingStep(), given),
        exact={"target": kernels},
    )  # fmt: skip


def asked_by_tree(trace: Trace, kernels: frozenset[str]) -> dict[tuple[Phase, str, bool], int]:
    """Overloads that the walk of the tree ends in, with (phase, name, missing)."""
    counts: Counter[tuple[Phase, str, bool]] = Counter()

    def walk(index: int, phase: Phase, times: int) -> None:
        node = trace.nodes[index]
        name = str(node.op)
        has = name in kernels or node.op.namespace == "npu"
        if has or not (node.composite or node.op.base in ("detach", "alias")):
            counts[phase, name, not has] += times
        for child, count in (node.children or ()) if not has else ():
            walk(child, phase, times * count)

    for use in trace.uses:
        walk(use.node, use.phase, use.count)
    return dict(counts)


def asked_exactly(kernels: tuple[Kernel, ...]) -> dict[tuple[Phase, str, bool], int]:
    return {(k.phase, str(k.op), k.missing): k.count for k in kernels}


def compared(name: str, label: str) -> tuple[dict[Any, int], dict[Any, int]]:
    kernels = SETS[label]
    gradients = {op: tuple(runs) for op, runs in GRADIENTS.items() if op in kernels}
    model, args, kwargs = without_dropout(name)
    trace = traced(model, args, kwargs, kernels, gradients)
    assert trace.gaps == ()
    found, counted = asked_by_tree(trace, kernels), asked_exactly(trace.kernels["target"])
    plain = {"aten::detach", "aten::alias"}  # a leaf of the tree, whatever the target has
    return (
        {key: n for key, n in found.items() if key[1] not in plain},
        {key: n for key, n in counted.items() if key[1] not in plain},
    )


@pytest.mark.slow
@pytest.mark.parametrize("label", ["newest", "6.0.0"])
@pytest.mark.parametrize("name", ["conv", "attention", "encoder-layer", "bert"])
def test_the_tree_ends_in_the_kernels_that_are_counted(name: str, label: str) -> None:
    found, counted = compared(name, label)
    assert found == counted
    assert {phase for phase, _, _ in found} == set(Phase)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["newest", "6.0.0"])
def test_where_strides_decide_how_often_the_tree_still_ends_in_the_same(label: str) -> None:
    found, counted = compared("t5", label)
    assert found.keys() == counted.keys()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        x = x.sin()
        return self.second(x)  # type: ignore[no-any-return]  # a module's call


def uses_of(trace: Trace, base: str, phase: Phase) -> list[Use]:
    found = [use for use in trace.uses if trace.nodes[use.node].op.base == base]
    return [use for use in found if use.phase is phase]


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class Twice(nn.Module):
    """Two products of the same sizes: the second is first in backward."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.mm(x, self.weight).sum() + torch.matmul(x, self.weight).sum()


def test_what_a_gradient_of_the_vendor_s_runs_unheard_is_taken_apart_where_it_is_heard() -> None:
    """The formula stands in for the vendor's kernel, and calls ``mm`` as the other product does."""
    kernels = frozenset({"aten::matmul"})
    gradients = {"aten::matmul": ("aten::matmul_backward",)}
    trace = traced(Twice(), (torch.ones(2, 3),), {}, kernels, gradients)
    assert {trace.nodes[use.node].op.base for use in trace.uses} >= {"mm", "matmul_backward"}
    structured = [node for node in trace.nodes if node.composite is Composite.NON_FUNCTIONAL]
    assert structured
    assert [str(node.op) for node in structured if not node.children] == []


@pytest.mark.slow
def test_each_call_of_the_backward_has_the_place_of_the_call_that_it_goes_back_to() -> None:
    trace = traced(Net(), (torch.ones(2, 3),), {}, SETS["newest"])
    (cosine,) = uses_of(trace, "cos", Phase.BACKWARD)
    assert (cosine.module, cosine.file, cosine.line) == ("", HERE, line_of("x = x.sin()"))
    modules = [use.module for use in uses_of(trace, "mm", Phase.BACKWARD)]
    assert modules == ["second", "second", "first"]


@pytest.mark.slow
def test_what_a_checkpoint_computes_again_has_its_own_place_and_so_has_its_gradient() -> None:
    class Again(Net):
        def forward(self, x: Tensor) -> Any:
            return checkpoint(super().forward, x, use_reentrant=False)

    trace = traced(Again(), (torch.ones(2, 3),), {}, SETS["newest"])
    (again,) = uses_of(trace, "sin", Phase.BACKWARD)
    (cosine,) = uses_of(trace, "cos", Phase.BACKWARD)
    here = (HERE, line_of("x = x.sin()"))
    assert [(use.file, use.line) for use in (again, cosine)] == [here, here]


@pytest.mark.slow
def test_the_gradient_of_a_composite_kept_whole_is_placed_where_the_composite_is_called() -> None:
    class Attends(Net):
        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x).view(1, 1, 2, 4)
            x = nn.functional.scaled_dot_product_attention(x, x, x)
            return self.second(x)  # type: ignore[no-any-return]  # a module's call

    kernels = SETS["newest"]
    inputs = (torch.ones(2, 3),)
    trace = traced(Attends(), inputs, {}, kernels)
    name = "scaled_dot_product_attention"
    (whole,) = uses_of(trace, name, Phase.FORWARD)
    backward = [u for u in trace.uses if u.phase is Phase.BACKWARD and u.line == whole.line]
    assert backward != []
    assert uses_of(trace, "bmm", Phase.FORWARD) == []
    known = {"aten::scaled_dot_product_attention": ("npu::npu_fusion_attention_grad",)}
    (own,) = uses_of(
        traced(Attends(), inputs, {}, kernels, known),
        "npu_fusion_attention_grad", Phase.BACKWARD,
    )  # fmt: skip
    assert (own.file, own.line) == (whole.file, whole.line)


@pytest.mark.slow
def test_a_forward_alone_has_no_other_phase() -> None:
    trace = trace_model(Net(), (torch.ones(2, 3),), {}, device_type="npu")
    assert trace.mode == "inference"
    assert {use.phase for use in trace.uses} == {Phase.FORWARD}
    assert traced(Net(), (torch.ones(2, 3),), {}, SETS["newest"]).mode == "train"
