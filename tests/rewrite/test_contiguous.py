"""What a target runs with wrong values is planned as well, and laid out in order if that helps."""

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.plan import Label, NodePlan, Tier
from opcheck.model.predicates import Layout, OneOf
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.findings import resolve
from opcheck.resolve.suggestions import planned
from opcheck.rewrite.call import Call
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.same_overload import laid_out, on_the_device
from opcheck.trace import trace_model
from tests.resolve.made import NONE, matrix
from tests.rewrite.reasons import reads

VIEWS = ("aten::as_strided", "aten::t", "aten::empty.memory_format")
PERMUTED = Layout("self", OneOf(frozenset({"permuted"})))


def on(condition: Condition, *others: str) -> SupportMatrix:
    given = {"aten::silu": [condition]}
    return matrix("aten::silu", *VIEWS, *others, conditions=given, fallback=NONE)


def wrong(*, harmful: bool) -> Condition:
    text = "{argument} is {actual}, which gives wrong values"
    return Condition("layout", Verdict.NATIVE, text, Confidence.HIGH, (PERMUTED,), harmful=harmful)


def transposed(x: Tensor) -> Tensor:
    return torch.nn.functional.silu(x.mT)


def plans(target: SupportMatrix) -> tuple[NodePlan, ...]:
    trace = trace_model(transposed, (torch.ones(2, 3),), {}, device_type="npu")
    return Planner(trace, Recorder("npu", {})).plan(target)


def test_a_harmed_call_is_given_its_tensors_in_order() -> None:
    (found,) = plans(on(wrong(harmful=True), "aten::clone"))
    (way,) = found.suggestions
    assert (way.rule, way.tier, way.label) == ("contiguous-first", Tier.SWAP, Label.EXACT)
    assert {"aten::clone", "aten::silu"} <= set(way.runs_as)
    assert found.stuck == ()
    namespace: dict[str, object] = {}
    exec(way.code, namespace)  # what users get to paste
    x = torch.randn(2, 3).mT
    silu = namespace[way.function]
    assert callable(silu)
    assert torch.equal(silu(x), torch.nn.functional.silu(x))


def test_a_caution_without_harm_needs_no_plan() -> None:
    assert plans(on(wrong(harmful=False), "aten::clone")) == ()


def test_a_way_that_is_harmed_itself_is_none() -> None:
    always = replace(wrong(harmful=True), predicates=())
    (found,) = plans(on(always, "aten::clone", "aten::sigmoid", "aten::mul.Tensor"))
    assert "contiguous-first" not in [way.rule for way in found.suggestions]
    assert [d.reason for d in found.declined if d.rule == "contiguous-first"]


def test_a_harmed_call_stays_a_native_one_in_the_sum() -> None:
    trace = trace_model(transposed, (torch.ones(2, 3),), {}, device_type="npu")
    target = on(wrong(harmful=True), "aten::clone")
    report = planned(resolve(trace, target), trace, plans(target))
    (finding,) = [finding for finding in report.findings if finding.suggestions]
    assert (finding.op, finding.verdict) == ("aten::silu", Verdict.NATIVE)
    assert report.plan is not None
    assert report.plan.stuck == ()
    assert {after.support_rate for after in report.plan.tiers} == {1.0}


@pytest.mark.parametrize("x", [torch.ones(2, 3), torch.ones(())])
def test_what_lies_in_order_is_refused(x: Tensor) -> None:
    refuses = laid_out("aten::silu").refuses
    reads(refuses(Call(torch.ops.aten.silu.default, (x,), {})), "its tensors lie in order already")


def test_a_view_is_refused() -> None:
    way = laid_out("aten::view")
    x = torch.ones(2, 3).mT
    reads(way.summary, "Call .contiguous() on its tensors first")
    reads(
        way.refuses(Call(torch.ops.aten.view.default, (x, [3, 2]), {})),
        "it gives a view of its argument",
    )


def test_a_number_in_host_memory_has_no_name_to_call_it_by() -> None:
    node = Node(
        OpName.parse("aten::mul.Tensor"),
        (("self", TensorMeta("float32", (2,), (1,))),
         ("other", TensorMeta("float32", (), (), host=True))),
    )  # fmt: skip
    assert on_the_device(node).summary == (
        "Make the tensor in host memory with device=x.device, or register it as a buffer"
    )
    with speaking(Language.CHINESE):
        assert "主机内存中的张量" in tell(on_the_device(node).summary)
