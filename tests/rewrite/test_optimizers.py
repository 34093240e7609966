"""Fused optimizers that a target lacks: PyTorch's foreach functions, recorded and measured."""

import pytest
import torch
from torch import nn

from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.trace import Node, Phase, Trace
from opcheck.rewrite.listing import fix_called
from opcheck.rewrite.optimizers import NAME, unfused
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.trace.run import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.resolve.made import NONE, matrix

KINDS = ("Adagrad", "Adam", "AdamW", "SGD")
VIEWS = ("aten::detach", "aten::empty.memory_format", "aten::clone", "aten::copy_")


def traced(kind: str, scaler: bool, **options: object) -> Trace:
    step = TrainingStep(
        optimizer=lambda parameters: getattr(torch.optim, kind)(parameters, fused=True, **options),
        scaler=scaler,
    )
    training = Training(step, Registrations(frozenset()))
    model, x = nn.Linear(4, 3), torch.ones(2, 4)
    return trace_model(model, (x,), {}, device_type="npu", training=training)


def step_of(trace: Trace) -> Node:
    (use,) = (use for use in trace.uses if trace.nodes[use.node].op.base.startswith("_fused"))
    assert use.phase is Phase.OPTIMIZER
    return trace.nodes[use.node]


def planned(trace: Trace, *registered: str) -> tuple[Suggestion, ...]:
    kernels = {str(node.op) for node in trace.nodes if not node.op.base.startswith("_fused")}
    on = matrix(*kernels, *VIEWS, *registered, fallback=NONE)
    (plan,) = Planner(trace, Recorder("npu", {})).plan(on)
    return plan.suggestions


FOREACH = (
    "aten::_amp_foreach_non_finite_check_and_unscale_", "aten::reciprocal", "aten::mul.out",
    *(f"aten::_foreach_{name}" for name in (
        "add_.Scalar", "add_.List", "addcdiv_.Scalar", "addcdiv_.ScalarList", "addcmul_.Scalar",
        "div_.ScalarList", "lerp_.Scalar", "mul.ScalarList", "mul_.Scalar", "sqrt", "add.List",
    )),
)  # fmt: skip


@pytest.mark.parametrize("scaler", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_step_without_fused_is_recorded_and_measured(kind: str, scaler: bool) -> None:
    options = {"momentum": 0.9} if kind == "SGD" else {"weight_decay": 0.1}
    (way,) = planned(traced(kind, scaler, **options), *FOREACH)
    assert (way.rule, way.tier, way.label) == (NAME, Tier.SWAP, Label.TOLERANCE)
    assert f"torch.optim.{kind}(parameters, ..., foreach=True)" in way.summary
    assert way.measured is not None
    assert way.measured.forward.relative < 1e-6
    assert any("_foreach_" in op for op in way.runs_as)


def test_a_target_without_foreach_kernels_is_offered_none() -> None:
    assert NAME not in {way.rule for way in planned(traced("Adam", False))}


def test_other_operators_have_no_such_way() -> None:
    assert list(unfused("aten::_foreach_add_.Scalar")) == []


def test_the_way_has_a_page() -> None:
    page = fix_called(NAME)
    assert page is not None
    assert page.tier is Tier.SWAP
