"""Structural ways beside plans, for small programs on a made-up target."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, NodePlan, Tier
from opcheck.model.trace import Trace
from opcheck.resolve.findings import resolve
from opcheck.resolve.suggestions import planned
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.structural.line_proof import Prover
from opcheck.rewrite.structural.suggest import Structural
from opcheck.trace import trace_model
from tests.resolve.made import NONE, matrix
from tests.rewrite.reasons import reads

BASIC = (
    "aten::as_strided", "aten::view", "aten::unsqueeze", "aten::empty.memory_format",
    "aten::fill_.Scalar", "aten::where.self", "aten::sum", "aten::gt.Scalar", "aten::max",
)  # fmt: skip
X = torch.randn(3, 4)


def traced(function: Callable[..., object], *args: Tensor) -> Trace:
    return trace_model(function, args, {}, device_type="npu", inputs_given=True)


def text(file: str) -> str:
    return Path(__file__).read_text(encoding="utf-8") if file.endswith("test_suggest.py") else ""


def plans(trace: Trace, on: SupportMatrix) -> tuple[NodePlan, ...]:
    first = Planner(trace, Recorder("npu", {})).plan(on)
    return Structural(trace, Prover(Recorder("npu", {})), text).added(first, on)


def summed(x: Tensor) -> Tensor:
    mask = x > 0
    return x[mask].sum()


def both(x: Tensor) -> Tensor:
    mask = x > 0
    top = x[mask].max()
    kept = x[mask]
    return top + (kept @ kept)


def branched(x: Tensor) -> Tensor:
    y = x
    if x.max() > 0:
        y = x + 1
    return y


def test_the_line_is_written_over_everything_recorded_and_measured() -> None:
    (found,) = plans(traced(summed, X), matrix(*BASIC, fallback=NONE))
    (way,) = [way for way in found.suggestions if way.tier is Tier.STRUCTURAL]
    assert (way.rule, way.label, way.by_hand) == (
        "where-instead-of-mask", Label.TOLERANCE, True,
    )  # fmt: skip
    line = summed.__code__.co_firstlineno + 2
    assert way.summary == f"Write torch.where(mask, x, 0).sum() for x[mask].sum() in line {line}"
    assert way.replaces == "aten::index.Tensor"
    reads(way.gives_up, "Every element is computed, also those that the mask leaves out")
    assert {"aten::where.self", "aten::sum"} <= set(way.runs_as) <= set(BASIC)
    assert way.measured is not None
    assert way.measured.forward.relative < 1e-6
    assert way.measured.backward is not None
    assert found.stuck == ()
    assert not way.is_advice


def test_a_target_that_lacks_a_part_of_it_gets_no_such_way() -> None:
    without = [op for op in BASIC if op != "aten::where.self"]
    (found,) = plans(traced(summed, X), matrix(*without, fallback=NONE))
    assert not any(way.tier is Tier.STRUCTURAL for way in found.suggestions)
    reasons = {why.rule: why.reason for why in found.declined}
    assert reasons["where-instead-of-mask"].startswith("it needs aten::where")
    assert found.stuck


@pytest.mark.slow
def test_each_line_has_a_plan_of_its_own() -> None:
    trace = traced(both, X)
    on = matrix(*BASIC, "aten::add.Tensor", "aten::dot", "aten::matmul", fallback=NONE)
    found = {plan.site.rpartition(":")[2]: plan for plan in plans(trace, on)}
    first = both.__code__.co_firstlineno + 2
    assert set(found) == {str(first), str(first + 1)}
    assert found[str(first)].stuck == ()
    assert found[str(first + 1)].stuck != ()
    (finding,) = [
        finding
        for finding in planned(resolve(trace, on), trace, plans(trace, on)).findings
        if finding.op == "aten::index.Tensor"
    ]
    lines = {finding.uses[i].line for way in finding.suggestions if way.runs_as for i in way.places}
    assert lines == {first}


def test_advice_counts_for_nothing() -> None:
    trace = traced(branched, X)
    on = matrix(*BASIC, "aten::add.Tensor", fallback=NONE)
    (plan,) = plans(trace, on)
    (way,) = [way for way in plan.suggestions if way.is_advice]
    assert way.summary == "Write y = torch.where(x.max() > 0, x + 1, y)"
    assert way.unmeasured
    report = planned(resolve(trace, on), trace, [plan])
    assert report.plan is not None
    assert report.plan.stuck == ("aten::is_nonzero",)
    assert {after.support_rate for after in report.plan.tiers} == {report.summary.support_rate}


def largest(x: Tensor) -> Tensor:
    mask = x > 0
    return x[mask].max()


def doubled(x: Tensor) -> Tensor:
    mask = x > 0
    y = x.clone()
    y[mask] = y[mask] * 2
    return y


ALL = "Every element is computed, also those that the mask leaves out"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "more"),
    [
        (largest, "where the mask is true nowhere, the original raises and this gives an infinity"),
        (doubled,
         "what is written to becomes a new tensor, and views of the old one keep old values"),
    ],
)  # fmt: skip
def test_a_line_over_everything_says_what_it_costs(
    function: Callable[[Tensor], Tensor], more: str
) -> None:
    on = matrix(*BASIC, "aten::mul.Tensor", "aten::clone", "aten::amax", fallback=NONE)
    found = [way for plan in plans(traced(function, X), on) for way in plan.suggestions]
    costs = {way.gives_up for way in found if way.rule == "where-instead-of-mask"}
    assert len(costs) == 1
    first, second = costs.pop().split("; ")
    assert first == ALL
    reads(second, more)
