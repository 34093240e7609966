"""A report beside that of what a change is made to: what is new fails, and nothing else."""

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from opcheck.commands.gate.judging.accepted import baseline_of
from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.values import Before, GateResult, Standing
from opcheck.model.policy import Limits, Policy
from opcheck.model.report import Finding, Report
from opcheck.model.verdict import Confidence, Verdict
from tests.commands.gate.made import EARLIER, TODAY, finding, report, waiver
from tests.commands.gate.test_properties import policies
from tests.views.strategies import reports
from tests.views.test_sarif import moved

OLD, NEW = finding(), finding("aten::new")


def compared(head: Report, base: Report, policy: Policy | None = None) -> GateResult:
    return judge(head, policy or Policy(), None, TODAY, base)


def standings(found: GateResult) -> dict[str, Standing]:
    return {one.finding.op: one.standing for target in found.targets for one in target.judged}


def fixed(found: GateResult) -> list[Finding]:
    return [one for target in found.targets for one in target.fixed]


def test_what_is_new_fails_and_what_was_there_does_not() -> None:
    found = compared(report(OLD, NEW), report(OLD, finding("aten::gone")))
    assert standings(found) == {OLD.op: Standing.UNCHANGED, NEW.op: Standing.FAILS}
    assert not found.passed
    assert fixed(found) == [finding("aten::gone")]


def test_the_same_again_passes() -> None:
    found = compared(report(OLD), report(OLD))
    assert found.passed
    assert fixed(found) == []


def test_one_that_is_worse_is_new() -> None:
    policy = Policy(fail_verdicts=frozenset({Verdict.FALLBACK, Verdict.UNSUPPORTED}))
    base = report(replace(OLD, verdict=Verdict.FALLBACK))
    assert standings(compared(report(OLD), base, policy)) == {OLD.op: Standing.FAILS}
    head = report(replace(OLD, verdict=Verdict.FALLBACK))
    assert standings(compared(head, report(OLD), policy)) == {OLD.op: Standing.UNCHANGED}


def test_one_in_a_module_more_is_new() -> None:
    one, two = (finding("aten::x", Verdict.UNSUPPORTED, "no-kernel", *m) for m in ("a", "ab"))
    assert not compared(report(two), report(one)).passed
    assert compared(report(one), report(two)).passed


def test_what_the_policy_allows_is_not_fixed_when_it_goes() -> None:
    base = report(finding("aten::slow", Verdict.FALLBACK), replace(NEW, confidence=Confidence.LOW))
    policy = Policy(confidence=Confidence.HIGH)
    assert fixed(compared(report(), base, policy)) == []


def test_what_is_waived_now_is_not_fixed() -> None:
    found = compared(report(OLD), report(OLD), Policy(waivers=(waiver(OLD.op),)))
    assert standings(found) == {OLD.op: Standing.WAIVED}
    assert fixed(found) == []
    assert found.waivers[0].matched == 1


def test_a_waiver_that_expired_fails_no_change_that_it_is_not_about() -> None:
    policy = Policy(waivers=(waiver(OLD.op, expires=EARLIER),))
    assert compared(report(OLD), report(OLD), policy).passed
    assert not judge(report(OLD), policy, None, TODAY).passed


def test_the_baseline_comes_first() -> None:
    known = baseline_of(judge(report(OLD), Policy(), None, TODAY))
    found = judge(report(OLD, NEW), Policy(), known, TODAY, report(OLD, NEW))
    assert standings(found) == {OLD.op: Standing.BASELINED, NEW.op: Standing.UNCHANGED}


@pytest.mark.parametrize(("before", "passed"), [(0.9, True), (0.8, True), (0.91, False)])
def test_a_limit_that_was_broken_no_better_is_no_news(before: float, passed: bool) -> None:
    policy = Policy(limits=Limits(min_support_rate=0.95))
    found = compared(report(rate=0.9), report(rate=before), policy)
    assert found.passed is passed
    assert found.unchanged_limits == int(passed)


@pytest.mark.parametrize(
    ("limits", "had", "more"),
    [(Limits(max_islands=1), {"islands": 3}, {"islands": 4}),
     (Limits(max_fallback_bytes=8), {"moved": 30}, {"moved": 40})],
)  # fmt: skip
def test_figures_may_stay_as_they_were(
    limits: Limits, had: dict[str, int], more: dict[str, int]
) -> None:
    base = report(islands=had.get("islands", 1), moved=had.get("moved", 0))
    head = report(islands=more.get("islands", 1), moved=more.get("moved", 0))
    assert compared(base, base, Policy(limits=limits)).passed
    assert not compared(head, base, Policy(limits=limits)).passed


def test_a_target_that_was_not_there_is_new() -> None:
    found = compared(report(OLD), report(OLD, target="nvidia-a100@13.0+torch2.12"))
    assert found.targets[0].before == Before("", True, ())
    assert not found.passed


def test_another_release_and_other_data_are_told() -> None:
    base = report(OLD, target="ascend-910b@26.0.0+torch2.10")
    (old,) = base.targets
    base = replace(base, targets=(replace(old, database_digest="another"),))
    found = compared(report(OLD), base)
    assert found.targets[0].before == Before(old.target, False, ())
    assert found.passed


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(reports, policies)
def test_no_report_has_news_beside_itself(report: Report, policy: Policy) -> None:
    """Nor does it when lines move."""
    for head in (report, moved(report)):
        found = compared(head, report, policy)
        assert found.passed
        assert fixed(found) == []


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(reports, reports, policies)
def test_what_fails_beside_a_base_fails_without(head: Report, base: Report, policy: Policy) -> None:
    alone, beside = judge(head, policy, None, TODAY), compared(head, base, policy)
    failing = {Standing.FAILS, Standing.UNCHANGED}
    for one, other in zip(alone.targets, beside.targets, strict=True):
        assert {judged.finding for judged in one.failing} == {
            judged.finding for judged in other.judged if judged.standing in failing
        }
        assert {breach.limit for breach in one.broken} == {
            breach.limit for breach in other.breaches
        }
