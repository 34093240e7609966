"""Overloads computed in float32 instead of a dtype that a target refuses."""

import pytest
import torch

from opcheck.model.plan import Label, Tier
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate, candidates
from opcheck.trace import trace_model
from opcheck.trace.torch_internals.dispatcher import overload_named


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
