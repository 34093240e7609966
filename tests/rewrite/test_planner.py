"""Plans for small programs on made-up targets: what is chosen, declined, recorded and measured."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.plan import Label, NodePlan, Remedy, Suggestion, Tier
from opcheck.model.predicates import OneOf, Rank
from opcheck.model.trace import Composite, Trace
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.findings import resolve
from opcheck.resolve.suggestions import planned
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.draw import Draw
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.trace import trace_model
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep
from tests.resolve.made import LISTED, NONE, condition, dtype, matrix
from tests.rewrite.reasons import reads

VIEWS = ("aten::as_strided", "aten::view", "aten::unsqueeze", "aten::empty.memory_format")


def traced(function: Callable[..., Any], *args: Tensor) -> Trace:
    return trace_model(function, args, {}, device_type="npu")


def target(*registered: str) -> SupportMatrix:
    return matrix(*VIEWS, *registered, fallback=NONE)


def plan(trace: Trace, on: SupportMatrix, *extra: Rule) -> tuple[NodePlan, ...]:
    return Planner(trace, Recorder("npu", {}), extra).plan(on)


def isin(x: Tensor, y: Tensor) -> Tensor:
    return torch.isin(x, y)


ISIN = (torch.arange(6).reshape(2, 3), torch.tensor([1, 4]))


def test_the_cheapest_that_the_target_runs_is_chosen_and_measured() -> None:
    found = plan(traced(isin, *ISIN), target("aten::eq.Tensor", "aten::any.dim"))
    (way,) = found[0].suggestions
    assert (way.rule, way.tier, way.label) == ("isin-by-comparing", Tier.SWAP, Label.EXACT)
    assert way.replaces == "aten::isin.Tensor_Tensor"
    assert set(way.runs_as) <= {"aten::eq.Tensor", "aten::any.dim", *VIEWS}
    assert {"aten::eq.Tensor", "aten::any.dim"} <= set(way.runs_as)
    assert way.memory == 2 * 3 * 2  # one truth for each pair
    assert way.calls == 2  # views ask for no kernel
    assert way.measured is not None
    assert way.measured.inputs == ("elements: int64[2,3]", "test_elements: int64[2]")
    assert (way.measured.forward.absolute, way.measured.backward) == (0.0, None)
    assert "def isin(" in way.code
    assert found[0].stuck == ()


@pytest.mark.slow
def test_what_needs_another_missing_operator_is_declined_with_its_name() -> None:
    (found,) = plan(traced(isin, *ISIN), target("aten::eq.Tensor"))
    assert found.suggestions == ()
    assert found.stuck == ("aten::isin.Tensor_Tensor_out",)  # what it is served through
    (declined, *_) = found.declined
    assert declined.rule == "isin-by-comparing"
    assert "aten::any" in declined.reason


def test_what_runs_needs_no_plan() -> None:
    assert plan(traced(isin, *ISIN), target("aten::isin.Tensor_Tensor")) == ()


def test_pytorchs_own_decomposition_is_a_way_where_no_rule_is() -> None:
    trace = traced(lambda x: torch.isneginf(x), torch.randn(3))
    (found,) = plan(trace, target("aten::eq.Scalar"))
    (way,) = found.suggestions
    assert (way.rule, way.label) == ("pytorch-decomposition(isneginf)", Label.EXACT)
    assert way.runs_as == ("aten::eq.Scalar",)
    space: dict[str, Any] = {}
    exec(way.code, space)
    assert space["isneginf"](torch.tensor([-torch.inf, 1.0])).tolist() == [True, False]


@pytest.mark.slow
def test_an_overload_inside_a_composite_is_replaced_where_the_whole_is_not() -> None:
    trace = traced(lambda x: x.std(-1), torch.randn(4, 3))
    on = target("aten::_copy_from", "aten::mean.dim", "aten::sum.dim_IntList", "aten::sqrt")
    (found,) = plan(trace, replace(on, inherits=frozenset({Composite.IMPLICIT})))
    assert str(trace.nodes[found.node].op) == "aten::std.dim"
    assert found.stuck == ("aten::std.correction",)  # of which the rule needs more than that
    assert "std-by-deviations" in {declined.rule for declined in found.declined}


class Known(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.isin(x, torch.tensor([1, 4]))


def test_what_the_target_lacks_besides_is_followed_once_the_tensor_is_on_the_device() -> None:
    trace = traced(Known(), ISIN[0])
    (found,) = plan(trace, target("aten::eq.Tensor", "aten::any.dim"))
    (way,) = found.suggestions
    reads(
        way.summary,
        "Make test_elements with device=x.device, or register it as a buffer; then: "
        "Compare with every candidate and take any",
    )
    assert way.rule == "isin-by-comparing"
    assert {"aten::eq.Tensor", "aten::any.dim"} <= set(way.runs_as)
    assert [declined.rule for declined in way.declined] == ["made-on-the-device"]
    assert found.stuck == ()
    on = target("aten::isin.Tensor_Tensor_out")
    ((own,),) = (each.suggestions for each in plan(trace, on))
    assert own.rule == "made-on-the-device"


class Windowed(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.ones(3)


def test_a_tensor_in_host_memory_is_to_be_made_on_the_device() -> None:
    trace = traced(Windowed(), torch.rand(2, 3))
    (found,) = plan(trace, target("aten::mul.Tensor", "aten::ones"))
    (way,) = found.suggestions
    assert (way.rule, way.tier, way.label) == ("made-on-the-device", Tier.SWAP, Label.EXACT)
    assert way.summary == "Make other with device=x.device, or register it as a buffer"
    assert way.runs_as == ("aten::mul.Tensor",)
    (found,) = plan(trace, target("aten::ones"))
    assert found.suggestions == ()
    (first, *others) = [d.rule for d in found.declined if d.tier is not Tier.CUSTOM]
    assert first == "made-on-the-device"
    assert "made-on-the-device" not in others


def resized(x: Tensor) -> Tensor:
    size = [2, 2]
    return torch.nn.functional.interpolate(x, size=size, mode="bicubic", antialias=True)


@pytest.mark.slow
def test_what_a_target_does_not_take_apart_is_itself_to_blame() -> None:
    trace = traced(resized, torch.rand(1, 1, 4, 4))
    whole = replace(target(), inherits=frozenset({Composite.IMPLICIT}))
    (found,) = plan(trace, whole)
    assert found.stuck == ("aten::_upsample_bicubic2d_aa",)


def double(self: Tensor) -> Tensor:
    return self + self


class Doubling(Rule):
    """``x + x`` for ``lgamma``: wrong on purpose."""

    name = "doubling"
    replaces = ("aten::lgamma",)
    summary = "Add it to itself"
    replace = staticmethod(double)

    def example(self, op: str, draw: Draw) -> Arguments:
        return (draw.tensor(),), {}


class Refusing(Doubling):
    """Refuses what is not square."""

    name = "refusing"

    def refuses(self, call: Any) -> str:
        shape = call.given("self").shape
        return "" if len(set(shape)) == 1 else f"{tuple(shape)} is not square"


@pytest.mark.slow
def test_wrong_values_are_no_suggestion() -> None:
    (found,) = plan(traced(torch.lgamma, torch.rand(4) + 1), target("aten::add.Tensor"), Doubling())
    assert found.suggestions == ()
    assert "off by" in next(d.reason for d in found.declined if d.rule == "doubling")


@pytest.mark.slow
def test_a_refusal_is_told_in_the_rules_own_words() -> None:
    trace = traced(torch.lgamma, torch.rand(4, 2))
    (found,) = plan(trace, target("aten::add.Tensor"), Refusing())
    assert next(d.reason for d in found.declined if d.rule == "refusing") == "(4, 2) is not square"


def test_what_is_too_large_to_compute_is_not_measured_and_says_so() -> None:
    large = torch.empty(1 << 23, dtype=torch.int64, device="meta")
    trace = traced(isin, large, torch.tensor([1]))
    (found,) = plan(trace, target("aten::eq.Tensor", "aten::any.dim"))
    (way,) = found.suggestions
    assert way.measured is None
    assert way.unmeasured.startswith("too large")


@pytest.mark.parametrize("op", ["aten::isin.Tensor_Tensor", "aten::isin.Tensor_Tensor_out"])
def test_candidates_come_cheapest_first_for_every_form(op: str) -> None:
    found = candidates(op)
    assert found[0].rule == "isin-by-comparing"
    assert [c.order for c in found] == sorted(c.order for c in found)


# --- beside the findings -------------------------------------------------------------------------


def summed(trace: Trace, on: SupportMatrix, operators: Collection[str]) -> Any:
    report = planned(resolve(trace, on), trace, plan(trace, on))
    assert {finding.op for finding in report.findings} == set(operators)
    return report


def both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.isin(x, y), torch.lgamma(y.float())


@pytest.mark.slow
def test_a_plan_is_summed_tier_by_tier() -> None:
    on = target("aten::eq.Tensor", "aten::any.dim", "aten::_to_copy")
    trace = traced(both, *ISIN)
    operators = {str(trace.nodes[use.node].op) for use in trace.uses}
    report = summed(trace, on, operators)
    assert report.summary.runs is False
    swap = report.plan.tiers[0]
    assert swap.operators == ("aten::isin.Tensor_Tensor",)
    assert (report.summary.support_rate, swap.support_rate) == (0.3333, 0.6667)
    assert swap.runs is False
    assert report.plan.stuck == ("aten::lgamma",)


def test_a_model_that_runs_after_a_tier_says_so() -> None:
    on = target("aten::eq.Tensor", "aten::any.dim")
    report = summed(traced(isin, *ISIN), on, {"aten::isin.Tensor_Tensor"})
    assert [after.runs for after in report.plan.tiers] == [True] * 4
    assert [after.support_rate for after in report.plan.tiers] == [1.0] * 4
    (finding,) = report.findings
    assert finding.suggestions[0].places == (0,)


# --- what the vendor ships -----------------------------------------------------------------------


def remedy(**changes: Any) -> Remedy:
    plain = Remedy(
        id="host-fallback", summary="Set it", write="X=1", codes=frozenset({"no-kernel"}),
        ops=frozenset(), dtypes=frozenset(), on_device=False, label=Label.EXACT,
        gives_up="speed", confidence=Confidence.HIGH, evidence=(LISTED,),
    )  # fmt: skip
    return replace(plain, **changes)


def with_remedy(trace: Trace, on: SupportMatrix, *remedies: Remedy) -> Any:
    plans = Planner(trace, Recorder("npu", {})).plan(on, remedies)
    return planned(resolve(trace, on), trace, plans)


@pytest.mark.slow
def test_a_host_fallback_lets_a_model_run_and_brings_nothing_to_the_device() -> None:
    trace = traced(torch.special.airy_ai, torch.rand(3))
    report = with_remedy(trace, target(), remedy())
    (finding,) = report.findings
    assert [(way.rule, way.tier, way.on_device) for way in finding.suggestions] == [
        ("host-fallback", Tier.COMPAT, False)
    ]
    assert finding.suggestions[0].summary == "Set it: X=1"
    assert [after.runs for after in report.plan.tiers] == [False, True, True, True]
    assert {after.support_rate for after in report.plan.tiers} == {0.0}
    assert report.plan.stuck == ("aten::special_airy_ai",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "helps"),
    [
        ({}, True),
        ({"codes": frozenset({"dtype-not-supported"})}, False),
        ({"ops": frozenset({"aten::special_airy_ai.out"})}, True),
        ({"ops": frozenset({"aten::erf"})}, False),
        ({"dtypes": frozenset({"float32"})}, True),
        ({"dtypes": frozenset({"float64"})}, False),
    ],
)
def test_a_remedy_is_for_what_it_names(changes: dict[str, Any], helps: bool) -> None:
    trace = traced(torch.special.airy_ai, torch.rand(3))
    (finding,) = with_remedy(trace, target(), remedy(**changes)).findings
    assert bool(finding.suggestions) is helps


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ({"aten::any.out"}, [("isin-by-comparing", Tier.COMPAT, "speed")]),
        (set(), [("package", Tier.COMPAT, "speed")]),
    ],
    ids=["for its own calls", "for the call itself"],
)
def test_a_rule_that_needs_what_the_vendor_ships_comes_where_that_alone_does_not_help(
    ops: set[str], expected: list[tuple[str, Tier, str]]
) -> None:
    package = remedy(id="package", ops=frozenset(ops), on_device=True)
    report = with_remedy(traced(isin, *ISIN), target("aten::eq.Tensor"), package)
    ways = [way for finding in report.findings for way in finding.suggestions]
    assert [(way.rule, way.tier, way.gives_up) for way in ways] == expected
    assert ways[0].summary.endswith("X=1")
    assert report.plan.stuck == ()


def test_a_package_with_the_kernel_brings_it_to_the_device() -> None:
    trace = traced(torch.special.airy_ai, torch.rand(3))
    report = with_remedy(trace, target(), remedy(id="package", on_device=True))
    assert [after.support_rate for after in report.plan.tiers] == [0.0, 1.0, 1.0, 1.0]
    assert report.plan.tiers[1].operators == ("aten::special_airy_ai",)
    assert report.plan.stuck == ()
    (way,) = report.findings[0].suggestions
    reads(way.unmeasured, "it is the vendor's own")


class Drawing(Doubling):
    """Numbers that are drawn anew."""

    name = "drawing"
    label = Label.APPROXIMATE
    random = True


def test_what_draws_is_compared_by_its_distribution() -> None:
    on = target("aten::add.Tensor")
    (found,) = plan(traced(torch.lgamma, torch.rand(4) + 1), on, Drawing())
    (way,) = (way for way in found.suggestions if way.rule == "drawing")
    assert way.measured is None
    reads(
        way.unmeasured,
        "it draws random numbers: its distribution is compared with the operator's, no value is",
    )


class Breaking(Doubling):
    """Fails in its own code."""

    name = "breaking"

    def refuses(self, call: Any) -> str:
        raise KeyError(call)


@pytest.mark.slow
def test_a_rule_that_fails_is_declined_and_breaks_nothing() -> None:
    (found,) = plan(traced(torch.lgamma, torch.rand(4) + 1), target("aten::add.Tensor"), Breaking())
    told = [d.reason for d in found.declined if d.rule == "breaking"]
    assert told
    assert all(reason.startswith("the rule itself fails: KeyError") for reason in told)


def test_pytorchs_own_code_is_exact_only_where_it_was_measured() -> None:
    large = torch.empty(1 << 23, device="meta")
    (found,) = plan(traced(torch.isneginf, large), target("aten::eq.Scalar"))
    (way,) = found.suggestions
    assert (way.measured, way.label) == (None, Label.TOLERANCE)


def test_a_stand_in_without_a_gradient_is_measured_forward_and_says_so() -> None:
    registered = ("aten::le.Tensor", "aten::arange.start_out", "aten::where.self", "prims::prod",
                  "aten::fill_.Scalar", "aten::_to_copy", "aten::arange", "aten::full_like",
                  "aten::empty_like", "aten::full", "aten::scalar_tensor", "aten::prod.dim_int",
                  "aten::empty_strided", "aten::expand", "aten::le.Scalar")  # fmt: skip
    trace = traced(lambda x: x.cumprod(-1), torch.rand(2, 3))
    (found,) = plan(trace, target(*registered))
    way = next(w for w in found.suggestions if w.rule.startswith("pytorch-decomposition(cumprod)"))
    assert way.measured is not None
    assert (way.measured.backward, way.label) == (None, Label.TOLERANCE)
    assert way.measured.forward.relative < 1e-6
    assert way.unmeasured.startswith("the stand-in has no gradient: ")


# --- kernels of one's own ------------------------------------------------------------------------


def of_vendor(vendor: str, *registered: str) -> SupportMatrix:
    made = target(*registered)
    return replace(made, target=replace(made.target, vendor=vendor))


@pytest.mark.slow
def test_what_is_stuck_gets_a_kernel_of_ones_own_and_stays_stuck() -> None:
    trace = traced(torch.lgamma, torch.rand(4) + 1)
    (found,) = plan(trace, of_vendor("ascend"))
    (way,) = found.suggestions
    assert (way.rule, way.tier, way.label) == ("custom-operator", Tier.CUSTOM, Label.TOLERANCE)
    assert way.replaces == found.stuck[0] == "aten::lgamma.out"
    assert "simpler" not in way.summary
    assert "--custom-op aten::lgamma.out writes a project for Ascend C" in way.summary
    assert "no core operator of PyTorch's" in way.summary
    assert (way.measured, bool(way.unmeasured), way.on_device) == (None, True, True)
    assert way.evidence


@pytest.mark.slow
def test_a_kernel_of_ones_own_counts_apart_from_what_is_proved() -> None:
    trace = traced(torch.lgamma, torch.rand(4) + 1)
    report = summed(trace, of_vendor("ascend"), {"aten::lgamma"})
    assert report.plan.stuck == ("aten::lgamma",)
    assert [after.support_rate for after in report.plan.tiers] == [0.0, 0.0, 0.0, 1.0]
    assert [after.runs for after in report.plan.tiers] == [False, False, False, True]
    assert report.plan.tiers[3].operators == ("aten::lgamma",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vendor", "told"),
    [
        ("google", "a TPU runs what XLA compiles"),
        ("nvidia-tensorrt", "plugins and converters"),
        ("vendor", "no toolchain of vendor's is known"),
    ],
)
def test_where_no_kernel_can_be_written_the_plan_says_why(vendor: str, told: str) -> None:
    (found,) = plan(traced(torch.lgamma, torch.rand(4) + 1), of_vendor(vendor))
    assert found.suggestions == ()
    (declined,) = [d for d in found.declined if d.tier is Tier.CUSTOM]
    assert told in declined.reason


@pytest.mark.slow
def test_random_numbers_and_complex_ones_get_no_kernel() -> None:
    for function, given, told in (
        (torch.bernoulli, torch.rand(3), "random numbers"),
        (torch.angle, torch.rand(3, dtype=torch.complex64), "complex numbers"),
    ):
        (found,) = plan(traced(function, given), of_vendor("ascend"))
        assert any(told in d.reason for d in found.declined if d.tier is Tier.CUSTOM)


def test_a_kernel_that_is_there_but_refuses_is_replaced_for_every_use() -> None:
    from opcheck.rewrite.custom.suggest import suggested

    trace = traced(torch.lgamma, torch.rand(4) + 1)
    node = next(n for n in trace.nodes if str(n.op) == "aten::lgamma")
    way = suggested(node, of_vendor("moorethreads", "aten::lgamma"))
    assert isinstance(way, Suggestion)
    assert "for every use" in way.gives_up


# --- in a training step ---------------------------------------------------------------------------


class Squashed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.layer(torch.tanh(x)))


class BySigmoid(Rule):
    """``2 * sigmoid(2 * x) - 1``."""

    name = "by-sigmoid"
    replaces = ("aten::tanh",)
    summary = "Stretch a sigmoid"
    label = Label.TOLERANCE
    tolerance = 16.0

    @staticmethod
    def replace(self: Tensor) -> Tensor:
        return torch.sub(torch.mul(torch.sigmoid(torch.mul(self, 2.0)), 2.0), 1.0)

    def example(self, op: str, draw: Draw) -> Arguments:
        return (draw.tensor(),), {}


FORWARD = ("aten::mul.Tensor", "aten::sub.Tensor", "aten::sigmoid")


@pytest.mark.slow
@pytest.mark.parametrize("backward", [(), ("aten::sigmoid_backward",)])
def test_a_way_is_none_in_a_step_where_its_backward_is_not_the_targets(
    backward: tuple[str, ...],
) -> None:
    registrations = Registrations(frozenset())
    training = Training(TrainingStep(), registrations)
    trace = trace_model(Squashed(), (torch.rand(2, 4),), {}, device_type="npu", training=training)
    kernels = {str(node.op) for node in trace.nodes if node.op.base != "tanh"}
    on = matrix(*kernels, *VIEWS, *FORWARD, *backward, fallback=NONE)
    inputs, hidden = Planner(trace, Recorder("npu", {}, registrations), (BySigmoid(),)).plan(on)
    (way,) = (way for way in inputs.suggestions if way.rule == "by-sigmoid")
    assert (set(way.runs_as), way.backward_as) == ({*FORWARD}, ())  # of inputs, nobody asks
    ways = [way for way in hidden.suggestions if way.rule == "by-sigmoid"]
    if backward:
        # autograd keeps sigmoid's result without asking the device
        assert [set(way.runs_as) for way in ways] == [{*FORWARD}]
        assert [way.backward_as for way in ways] == [("aten::mul.Tensor", "aten::sigmoid_backward")]
        assert ways[0].calls == 4
    else:
        declined = next(way for way in hidden.declined if way.rule == "by-sigmoid")
        assert ways == []
        assert declined.reason.startswith("its backward needs aten::sigmoid_backward: ")


class Squashes(torch.nn.Module):
    def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
        return tuple(torch.tanh(x) for x in given)


NO_SIGMOID = condition(Verdict.UNSUPPORTED, dtype("float32"))
SMALL, LARGE = torch.rand(2, 4), torch.rand(3, 8)
MATRIX = torch.rand(2, 2, 2)


class Noting(Recorder):
    """Notes which rules it records."""

    def __init__(self) -> None:
        super().__init__("npu", {})
        self.names: list[str] = []

    def trace(self, name: str, *given: Any) -> Trace | str:
        before = len(self._done)
        found = super().trace(name, *given)
        self.names += [name] * (len(self._done) - before)
        return found


@pytest.mark.parametrize(
    ("registered", "refused"),
    [(("aten::mul.Tensor",), {}), (FORWARD, {"aten::sigmoid": [NO_SIGMOID]})],
    ids=["no-kernel", "a-condition"],
)
def test_what_kept_a_way_from_one_call_is_looked_for_first_in_the_next_of_another_shape(
    registered: tuple[str, ...], refused: Mapping[str, Sequence[Condition]]
) -> None:
    on = matrix(*VIEWS, *registered, conditions=refused, fallback=NONE)
    recorder = Noting()
    plans = Planner(traced(Squashes(), SMALL, LARGE), recorder, (BySigmoid(),)).plan(on)
    alone = [plan(traced(Squashes(), x), on, BySigmoid())[0] for x in (SMALL, LARGE)]
    assert [each.declined for each in plans] == [each.declined for each in alone]
    assert "by-sigmoid" in {each.rule for each in plans[1].declined}
    # of two calls and what each is served through
    assert recorder.names.count("by-sigmoid") < 4


@pytest.mark.parametrize("order", [(MATRIX, SMALL), (SMALL, MATRIX)])
def test_what_kept_a_way_from_one_call_does_not_keep_it_from_one_that_has_it_otherwise(
    order: tuple[Tensor, ...],
) -> None:
    flat = condition(Verdict.UNSUPPORTED, Rank("self", OneOf(frozenset({"3"}))))
    on = matrix(*VIEWS, *FORWARD, conditions={"aten::sigmoid": [flat]}, fallback=NONE)
    plans = plan(traced(Squashes(), *order), on, BySigmoid())
    ways = {x.shape: [way.rule for way in p.suggestions] for x, p in zip(order, plans, strict=True)}
    assert "by-sigmoid" not in ways[MATRIX.shape]
    assert "by-sigmoid" in ways[SMALL.shape]
