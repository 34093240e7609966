"""What holds for any report and any policy."""

import random
from collections.abc import Iterator
from datetime import timedelta
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from opcheck.commands.gate.judging.accepted import (
    baseline_from_json,
    baseline_of,
    baseline_text,
    within,
)
from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.values import GateResult, Standing
from opcheck.model.policy import Limits, Policy, TargetRange, Waiver
from opcheck.model.report import Place, Report
from opcheck.model.verdict import Confidence, Verdict
from tests.commands.gate.made import TODAY, finding, report
from tests.views.strategies import reports

MODULES = ("layers.0", "layers.1.norm", "layers.*.norm", "head", "")
OPS = ("aten::view_as_complex", "aten::view_as_real", "torchvision::nms", "aten::sort")
CODES = ("dtype-not-supported", "no-kernel", "registered", "computed-on-host")

findings = st.builds(
    finding,
    st.sampled_from(OPS),
    st.sampled_from(Verdict),
    st.sampled_from(CODES),
    st.sampled_from(MODULES),
    st.sampled_from(MODULES),
    confidence=st.sampled_from(Confidence),
)
small = st.builds(
    lambda found, *figures: report(*found, rate=figures[0], islands=figures[1], moved=figures[2]),
    st.lists(findings, max_size=6),
    st.none() | st.floats(0, 1),
    st.integers(0, 9),
    st.integers(0, 9),
)
waivers = st.builds(
    lambda name, glob, module, target, days: Waiver(
        "soon",
        TODAY + timedelta(days),
        operator="" if name else glob,
        finding=name,
        module=module,
        target=TargetRange.parse(target),
    ),
    st.sampled_from(["", "", "view_as_complex-no-kernel", "sort-registered"]),
    st.sampled_from(["*", "aten::*", "aten::view_as_*", "torchvision::nms"]),
    st.sampled_from(["*", "layers.*", "head"]),
    st.sampled_from(["*", "ascend-910*", "ascend-910a", "*@..26.0", "*+torch2.12.."]),
    st.integers(-2, 2),
)
policies = st.builds(
    Policy,
    fail_verdicts=st.frozensets(st.sampled_from([Verdict.FALLBACK, Verdict.UNSUPPORTED])),
    fail_reasons=st.lists(st.sampled_from([*CODES, "*"]), max_size=2).map(tuple),
    allow_unknown=st.booleans(),
    allow_advisories=st.booleans(),
    confidence=st.sampled_from(Confidence),
    limits=st.builds(
        Limits, st.none() | st.floats(0, 1), st.none() | st.integers(0, 9),
        st.none() | st.integers(0, 9),
    ),
    waivers=st.lists(waivers, max_size=4).map(tuple),
)  # fmt: skip
quickly = settings(max_examples=60, deadline=None)
Failing = tuple[str, str, Place]


def failing(result: GateResult) -> Iterator[Failing]:
    """Every use that fails, each by itself."""
    for target in result.targets:
        for one in target.failing:
            for use in one.finding.uses:
                yield target.target, one.finding.id, use


@pytest.mark.slow
@quickly
@given(small | reports, policies, st.randoms(use_true_random=False))
def test_the_order_of_findings_does_not_matter(
    one: Report, policy: Policy, order: random.Random
) -> None:
    mixed = replace(
        one,
        targets=tuple(
            replace(target, findings=tuple(order.sample(target.findings, len(target.findings))))
            for target in one.targets
        ),
    )
    found = judge(mixed, policy, None, TODAY)
    assert replace(found, report=one) == judge(one, policy, None, TODAY)


@quickly
@given(small, policies, waivers)
def test_a_waiver_hides_what_it_matches_and_nothing_else(
    one: Report, policy: Policy, more: Waiver
) -> None:
    before = judge(one, policy, None, TODAY)
    after = judge(one, replace(policy, waivers=(*policy.waivers, more)), None, TODAY)
    left = set(failing(after))
    ops = {finding.id: finding.op for target in one.targets for finding in target.findings}

    def matched(failed: Failing) -> bool:
        _, name, use = failed
        named = more.finding == name if more.finding else fnmatchcase(ops[name], more.operator)
        here = fnmatchcase(use.module, more.module) and within(more.target, one.targets[0])
        return named and here and not more.expired(TODAY)

    assert left <= set(failing(before))
    assert left == {failed for failed in failing(before) if not matched(failed)}
    assert [target.breaches for target in after.targets] == [
        target.breaches for target in before.targets
    ]


@pytest.mark.slow
@quickly
@given(small | reports, policies)
def test_the_baseline_of_a_report_makes_it_pass(one: Report, policy: Policy) -> None:
    before = judge(one, policy, None, TODAY)
    baseline = baseline_of(before)
    after = judge(one, policy, baseline, TODAY)
    assert after.passed
    assert after.standings[Standing.BASELINED] == before.standings[Standing.FAILS]
    assert sum(after.standings.values()) == sum(before.standings.values())


@pytest.mark.slow
@quickly
@given(small | reports, policies)
def test_a_baseline_is_read_as_it_was_written(one: Report, policy: Policy) -> None:
    baseline = baseline_of(judge(one, policy, None, TODAY))
    text = baseline_text(baseline)
    assert baseline_from_json(text, "") == baseline
    assert text.isascii()


@quickly
@given(small, policies)
def test_nothing_is_lost(one: Report, policy: Policy) -> None:
    """Whatever does not run natively is told of, whether it fails or is hidden."""
    result = judge(one, policy, None, TODAY)
    bad = [f for target in one.targets for f in target.findings if not f.verdict.on_device]
    told = [judged.finding.id for target in result.targets for judged in target.judged]
    assert set(told) >= {finding.id for finding in bad}
    assert len(told) >= len(bad)
