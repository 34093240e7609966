"""Calls on narrower numbers, for devices that have none so wide."""

import pytest
import torch
from torch import Tensor

from opcheck.model.matrix import Condition
from opcheck.model.plan import Label, Tier
from opcheck.model.predicates import Dtype, OneOf
from opcheck.model.verdict import Confidence, Verdict
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.same_overload import from_the_start
from opcheck.trace import trace_model
from tests.resolve.made import NONE, matrix

NO_FLOAT64 = Condition(
    "dtype-not-supported", Verdict.UNSUPPORTED, "{argument} is {actual}", Confidence.HIGH,
    (Dtype("*", OneOf(frozenset({"float64"}))),),
)  # fmt: skip


@pytest.mark.slow
def test_what_the_device_cannot_hold_is_to_be_narrower_from_the_start() -> None:
    trace = trace_model(torch.lgamma, (torch.rand(4).double() + 1,), {}, device_type="npu")
    on = matrix(
        "aten::lgamma", "aten::empty.memory_format", "aten::_to_copy", "aten::lgamma.out",
        conditions={"*": [NO_FLOAT64]}, fallback=NONE,
    )  # fmt: skip
    (found,) = Planner(trace, Recorder("npu", {})).plan(on)
    (way,) = found.suggestions
    assert (way.rule, way.tier, way.label) == (
        "narrower-from-the-start", Tier.STRUCTURAL, Label.TOLERANCE,
    )  # fmt: skip
    assert way.runs_as == ("aten::lgamma",)
    assert way.summary.startswith("Make its tensors float32")
    assert way.gives_up.startswith("All digits of float64 beyond the seventh")
    assert way.measured is not None
    assert 0.0 < way.measured.forward.relative < 1e-6
    assert (way.code, found.stuck) == ("", ())


@pytest.mark.parametrize(
    ("op", "x", "narrow"),
    [
        ("aten::sin", torch.rand(3, dtype=torch.float64), torch.float32),
        ("aten::mul.Tensor", torch.rand(3, dtype=torch.complex128), torch.complex64),
    ],
)
def test_values_are_those_of_narrower_numbers_in_the_dtype_of_now(
    op: str, x: Tensor, narrow: torch.dtype
) -> None:
    name = str(x.dtype).removeprefix("torch.")
    way = from_the_start(op, {name})
    assert way is not None
    given = (x,) if op == "aten::sin" else (x, x)
    found = way.function(*given)
    assert found.dtype is x.dtype
    assert torch.equal(found, found.to(narrow).to(x.dtype))


def test_what_is_narrow_has_no_narrower_form() -> None:
    assert from_the_start("aten::sin", {"float32", "int64", "complex64"}) is None
