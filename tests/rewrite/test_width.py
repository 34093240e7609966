"""Overloads computed in another dtype than one that a target refuses."""

import pytest
import torch

from opcheck.model.matrix import Condition
from opcheck.model.plan import Label, Tier
from opcheck.model.predicates import Dtype, OneOf
from opcheck.model.verdict import Confidence, Verdict
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate, candidates, in_half
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.trace import trace_model
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.resolve.made import NONE, matrix


def _in_float32(op: str, dtype: str) -> Candidate:
    rule = f"float32-instead-of-{dtype}"
    return next(c for c in candidates(op, dtypes={dtype}) if c.rule == rule)


def test_float64_is_given_back_and_said_to_lose_digits() -> None:
    way = _in_float32("aten::cumsum", "float64")
    x = torch.linspace(0, 1, 5, dtype=torch.float64).reshape(5, 1)
    found = way.function(x, 0)
    assert found.dtype is torch.float64
    assert torch.equal(found, x.float().cumsum(0).double())
    assert (way.tier, way.label) == (Tier.STRUCTURAL, Label.TOLERANCE)
    assert way.gives_up == "All digits of float64 beyond the seventh"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_widened_and_loses_nothing(dtype: torch.dtype) -> None:
    way = _in_float32("aten::sinh", str(dtype).removeprefix("torch."))
    x = torch.linspace(-2, 2, 7).to(dtype)
    assert torch.equal(way.function(x), x.float().sinh().to(dtype))
    assert (way.tier, way.gives_up) == (Tier.SWAP, "")


def test_a_dtype_asked_for_is_exchanged_too() -> None:
    way = _in_float32("aten::sum.dim_IntList", "float64")
    x = torch.ones(3, dtype=torch.float64)
    trace = trace_model(
        lambda x: way.function(x, [0], dtype=torch.float64), (x,), {}, device_type="cpu", casts={}
    )
    sums = [node for node in trace.nodes if str(node.op) == "aten::sum.dim_IntList"]
    assert [node.output_tensors()[0].dtype for node in sums] == ["float32"]
    assert way.function(x, [0], dtype=torch.float64).dtype is torch.float64


def test_forms_that_write_are_served() -> None:
    x = torch.full((2,), 0.5, dtype=torch.float64)
    out = torch.empty(0, dtype=torch.float64)
    _in_float32("aten::sinh.out", "float64").function(x, out=out)
    assert torch.equal(out, x.float().sinh().double())
    _in_float32("aten::sinh_", "float64").function(x)
    assert torch.equal(x, out)


@pytest.mark.parametrize(
    ("op", "args", "reason"),
    [
        ("aten::add.Tensor", (torch.ones(1).double(), torch.ones(1)), "float64 alone"),
        ("aten::alias", (torch.ones(1).double(),), "moves values"),
        ("aten::bernoulli", (torch.ones(1).double(),), "random"),
        ("aten::sinh", (torch.ones(1).double(),), ""),
    ],
)
def test_what_cannot_be_exchanged_is_refused(
    op: str, args: tuple[object, ...], reason: str
) -> None:
    call = Call(overload_named(op), args, {})
    refused = _in_float32(op, "float64").refuses(call)
    assert reason in refused
    assert bool(reason) is bool(refused)


def test_the_text_runs_by_itself() -> None:
    way = _in_float32("aten::cumsum", "float64")
    space: dict[str, object] = {}
    exec(way.code, space)
    x = torch.rand(4, dtype=torch.float64)
    assert torch.equal(space[way.entry](x, 0), way.function(x, 0))  # type: ignore[operator]  # a function


def test_float16_is_given_back_as_float32_and_said_to_lose_digits() -> None:
    way = in_half("aten::mm.out")
    assert way is not None
    x, out = torch.linspace(0, 1, 6).reshape(2, 3), torch.empty(0)
    way.function(x, x.T, out=out)
    assert torch.equal(out, (x.half() @ x.T.half()).float())
    assert (way.tier, way.label) == (Tier.STRUCTURAL, Label.TOLERANCE)
    assert way.gives_up == "All digits of float32 beyond the third, and numbers beyond 65,504"


def test_what_takes_float16_alone_is_planned_in_float16() -> None:
    no_float32 = Condition(
        "dtype-not-supported", Verdict.UNSUPPORTED, "{argument} is {actual}", Confidence.HIGH,
        (Dtype("*", OneOf(frozenset({"float32"}))),),
    )  # fmt: skip
    on = matrix(
        "aten::mm", "aten::empty.memory_format", "aten::_to_copy", "aten::copy_",
        conditions={"aten::mm": [no_float32]}, fallback=NONE,
    )  # fmt: skip
    trace = trace_model(torch.mm, (torch.rand(3, 4), torch.rand(4, 2)), {}, device_type="npu")
    (found,) = Planner(trace, Recorder("npu", {})).plan(on)
    (way,) = found.suggestions
    assert (way.rule, way.tier) == ("float16-instead-of-float32", Tier.STRUCTURAL)
    assert way.summary == "Compute aten::mm in float16 instead of float32"
    assert way.runs_as == ("aten::_to_copy", "aten::mm")
    assert way.measured is not None
    assert 0.0 < way.measured.forward.relative < 2e-3
    assert found.stuck == ()
