"""What fails, and by what it is hidden."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.gate.judging.accepted import baseline_of
from opcheck.commands.gate.judging.judge import is_advisory, judge
from opcheck.commands.gate.values import Breach, Cause, GateResult, Limit, Standing
from opcheck.db.by_hand.advice import documents, sentence
from opcheck.db.store import Database
from opcheck.model.policy import Baseline, Limits, Policy, TargetRange
from opcheck.model.report import Finding, Reason, Report
from opcheck.model.trace import Gap
from opcheck.model.verdict import Confidence, Verdict
from tests.commands.gate.made import EARLIER, TODAY, finding, report, waiver
from tests.views.plans import PLANS

DEFAULT = Policy()


def outcome(
    one: Report,
    policy: Policy = DEFAULT,
    baseline: Baseline | None = None,
) -> list[tuple[Cause, Standing]]:
    (target,) = judge(one, policy, baseline, TODAY).targets
    return [(judged.cause, judged.standing) for judged in target.judged]


FALLBACK = finding("torchvision::nms", Verdict.FALLBACK, "host-fallback")
UNKNOWN = finding("aten::foo", Verdict.UNKNOWN, "not-in-target-torch", confidence=Confidence.LOW)
UNSURE = finding(confidence=Confidence.MEDIUM)
WRONG = finding(
    "aten::where.self", Verdict.NATIVE, "mps-where", text="wrong values (advisory mps-where)"
)
CAUTION = finding("aten::sort", Verdict.NATIVE, "computed-on-host", text="By the AI CPU.")
FINE = finding("aten::relu", Verdict.NATIVE, "registered", text="It is registered.")


@pytest.mark.parametrize(
    ("found", "policy", "expected"),
    [
        (FINE, Policy(), []),
        (finding(), Policy(), [(Cause.VERDICT, Standing.FAILS)]),
        (finding(), Policy(fail_verdicts=frozenset()), [(Cause.NONE, Standing.ALLOWED)]),
        (FALLBACK, Policy(), [(Cause.NONE, Standing.ALLOWED)]),
        (
            FALLBACK,
            Policy(fail_verdicts=frozenset({Verdict.FALLBACK})),
            [(Cause.VERDICT, Standing.FAILS)],
        ),
        (FALLBACK, Policy(fail_reasons=("host-*",)), [(Cause.REASON, Standing.FAILS)]),
        (UNKNOWN, Policy(), [(Cause.UNKNOWN, Standing.FAILS)]),
        (UNKNOWN, Policy(allow_unknown=True), [(Cause.NONE, Standing.ALLOWED)]),
        (UNKNOWN, Policy(confidence=Confidence.HIGH), [(Cause.UNKNOWN, Standing.FAILS)]),
        (UNSURE, Policy(confidence=Confidence.MEDIUM), [(Cause.VERDICT, Standing.FAILS)]),
        (UNSURE, Policy(confidence=Confidence.HIGH), [(Cause.VERDICT, Standing.UNSURE)]),
        (WRONG, Policy(), [(Cause.ADVISORY, Standing.FAILS)]),
        (WRONG, Policy(allow_advisories=True), [(Cause.NONE, Standing.ALLOWED)]),
        (CAUTION, Policy(), [(Cause.NONE, Standing.ALLOWED)]),
        (CAUTION, Policy(fail_reasons=("computed-*",)), [(Cause.REASON, Standing.FAILS)]),
        (FINE, Policy(fail_reasons=("registered",)), [(Cause.REASON, Standing.FAILS)]),
    ],
)
def test_what_fails(found: Finding, policy: Policy, expected: list[tuple[Cause, Standing]]) -> None:
    assert outcome(report(found), policy) == expected


def test_a_gap_of_the_trace_is_unknown() -> None:
    one = report(gaps=(Gap("encoder.router", "a branch by a value"),))
    assert outcome(one) == [(Cause.UNKNOWN, Standing.FAILS)]
    assert outcome(one, Policy(allow_unknown=True)) == [(Cause.NONE, Standing.ALLOWED)]
    (target,) = judge(one, Policy(), None, TODAY).targets
    named = Policy(waivers=(waiver(finding=target.judged[0].finding.id, module="encoder.*"),))
    assert outcome(one, named) == [(Cause.UNKNOWN, Standing.WAIVED)]


def test_an_advisory_on_the_target_fails_only_where_its_code_is_named() -> None:
    one = report(advisories=(Reason("torch-differs", "Traced with another torch."),))
    assert outcome(one) == []
    assert outcome(one, Policy(fail_reasons=("torch-*",))) == [(Cause.REASON, Standing.FAILS)]


def test_advisories_are_known_by_their_sentences() -> None:
    database = Database.open()
    found = [said.data for layer in database.layers for said in documents(layer, None)]
    assert found
    for said in found:
        assert is_advisory(Reason(said["id"], sentence(said)))
    assert not is_advisory(Reason("registered", "The target registers it."))


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(0.8, 3, 4096), ()),
        (Limits(0.81), (Breach(Limit.SUPPORT_RATE, 0.81, 0.8, False),)),
        (Limits(max_islands=2), (Breach(Limit.ISLANDS, 2, 3, False),)),
        (Limits(max_fallback_bytes=0), (Breach(Limit.FALLBACK_BYTES, 0, 4096, False),)),
    ],
)
def test_limits(limits: Limits, expected: tuple[Breach, ...]) -> None:
    found = judge(report(rate=0.8, islands=3, moved=4096), Policy(limits=limits), None, TODAY)
    assert found.targets[0].breaches == expected
    assert found.passed is not bool(expected)


def test_no_share_is_not_enough() -> None:
    found = judge(report(rate=None), Policy(limits=Limits(0.0)), None, TODAY)
    assert found.targets[0].breaches == (Breach(Limit.SUPPORT_RATE, 0.0, None, False),)


class TestWaivers:
    """Each hides what it matches, on its targets, until its day."""

    @pytest.mark.parametrize(
        ("target", "holds"),
        [
            ("*", True),
            ("ascend-*", True),
            ("ascend-910b", True),
            ("ascend-910a", False),
            ("ascend-910b@26.1.0", True),
            ("ascend-910b@..26.0", False),
            ("ascend-910b@26..", True),
            ("*@6.0, 26.1", True),
            ("ascend-*+torch2.1..2.7", False),
            ("ascend-*@26.1+torch2.12", True),
        ],
    )
    def test_the_range_of_targets(self, target: str, holds: bool) -> None:
        policy = Policy(waivers=(waiver("aten::*", target=TargetRange.parse(target)),))
        assert judge(report(finding()), policy, None, TODAY).passed is holds

    def test_the_last_day_counts(self) -> None:
        policy = Policy(waivers=(waiver("aten::*", expires=TODAY),))
        assert judge(report(finding()), policy, None, TODAY).passed

    def test_an_expired_one_brings_the_finding_back(self) -> None:
        policy = Policy(waivers=(waiver("aten::*", expires=EARLIER),))
        found = judge(report(finding()), policy, None, TODAY)
        assert not found.passed
        assert [(use.expired, use.matched) for use in found.waivers] == [(True, 1)]

    def test_other_uses_of_the_finding_still_fail(self) -> None:
        policy = Policy(waivers=(waiver("aten::view*", module="layers.*"),))
        one = finding("aten::view_as_complex", Verdict.UNSUPPORTED, "x", "layers.0", "norm")
        (judged,) = judge(report(one), policy, None, TODAY).targets[0].judged
        assert judged.standing is Standing.FAILS
        assert [use.module for use in judged.finding.uses] == ["norm"]
        assert (judged.finding.count, judged.waivers) == (2, (0,))

    def test_a_suggestion_for_a_waived_use_is_not_told(self) -> None:
        """The places of the others are counted anew, for they index the uses that are left."""
        way = next(f for f in PLANS["swap"].targets[0].findings if f.suggestions).suggestions[0]
        ways = [replace(way, places=places) for places in ((0,), (0, 2), (1, 2))]
        whole = finding("aten::view_as_real", Verdict.UNSUPPORTED, "no-kernel", "a", "b", "c")
        planned = replace(whole, suggestions=tuple(ways))
        policy = Policy(waivers=(waiver("aten::view*", module="a"),))
        (judged,) = judge(report(planned), policy, None, TODAY).targets[0].judged
        assert [use.module for use in judged.finding.uses] == ["b", "c"]
        assert [way.places for way in judged.finding.suggestions] == [(1,), (0, 1)]

    def test_several_may_hide_one_finding_together(self) -> None:
        policy = Policy(
            waivers=(waiver("aten::*", module="layers.*"), waiver("aten::*", module="norm"))
        )
        one = finding("aten::view_as_complex", Verdict.UNSUPPORTED, "x", "layers.0", "norm")
        found = judge(report(one), policy, None, TODAY)
        assert found.passed
        assert [use.matched for use in found.waivers] == [1, 1]

    @pytest.mark.parametrize(
        "idle", [waiver("aten::gelu"), waiver("torchvision::nms"), waiver(finding="no-such-id")]
    )
    def test_one_that_hides_nothing_is_told(self, idle: object) -> None:
        policy = Policy(waivers=(idle,))  # type: ignore[arg-type]  # it is a waiver
        found = judge(report(finding(), FALLBACK), policy, None, TODAY)
        assert [use.matched for use in found.waivers] == [0]


class TestBaseline:
    """What was there passes, what is new does not."""

    def accepted(self, one: Report, policy: Policy = DEFAULT) -> Baseline:
        return baseline_of(judge(one, policy, None, TODAY))

    def judged(self, one: Report, baseline: Baseline, **policy: object) -> GateResult:
        return judge(one, Policy(**policy), baseline, TODAY)  # type: ignore[arg-type]  # as told

    def test_new_findings_fail(self) -> None:
        baseline = self.accepted(report(finding()))
        assert self.judged(report(finding()), baseline).passed
        found = self.judged(report(finding(), UNKNOWN), baseline)
        assert [one.finding.op for one in found.targets[0].failing] == ["aten::foo"]

    def test_a_worse_verdict_is_new(self) -> None:
        both = frozenset({Verdict.FALLBACK, Verdict.UNSUPPORTED})
        baseline = self.accepted(report(FALLBACK), Policy(fail_verdicts=both))
        worse = replace(FALLBACK, verdict=Verdict.UNSUPPORTED)
        assert not self.judged(report(worse), baseline, fail_verdicts=both).passed

    def test_it_holds_for_a_newer_release_of_the_chip(self) -> None:
        baseline = self.accepted(report(finding()))
        assert self.judged(
            report(finding(), target="ascend-910b@27.0.0+torch2.13"), baseline
        ).passed
        other = report(finding(), target="ascend-910a@26.1.0+torch2.12")
        assert not self.judged(other, baseline).passed

    def test_findings_that_are_no_more_are_counted(self) -> None:
        baseline = self.accepted(report(finding(), UNKNOWN))
        assert self.judged(report(UNKNOWN), baseline).targets[0].gone == 1

    def test_figures_may_not_get_worse(self) -> None:
        limits = Limits(0.9, 1, 0)
        baseline = self.accepted(report(rate=0.5, islands=4, moved=10))
        same = self.judged(report(rate=0.5, islands=4, moved=10), baseline, limits=limits)
        assert (same.passed, same.baselined_limits) == (True, 3)
        for worse in (
            report(rate=0.4, islands=4, moved=10),
            report(rate=0.5, islands=5, moved=10),
            report(rate=0.5, islands=4, moved=11),
        ):
            assert not self.judged(worse, baseline, limits=limits).passed

    def test_what_is_waived_is_not_accepted(self) -> None:
        """Or an expired waiver would not bring its finding back."""
        one = finding("aten::view_as_complex", Verdict.UNSUPPORTED, "x", "layers.0", "norm")
        policy = Policy(waivers=(waiver("aten::*", module="layers.*"),))
        baseline = self.accepted(report(one), policy)
        assert judge(report(one), policy, baseline, TODAY).passed
        assert not judge(report(one), Policy(), baseline, TODAY).passed


def test_every_number_hidden_is_counted() -> None:
    policy = Policy(
        confidence=Confidence.HIGH, allow_advisories=True, waivers=(waiver("aten::view*"),)
    )
    known = finding("aten::known")
    one = report(finding(), known, FALLBACK, UNKNOWN, WRONG, replace(UNSURE, op="aten::b", id="b"))
    baseline = baseline_of(judge(report(known), Policy(), None, TODAY))
    found = judge(one, policy, baseline, TODAY)
    assert found.standings == {
        Standing.FAILS: 1,
        Standing.WAIVED: 1,
        Standing.BASELINED: 1,
        Standing.UNCHANGED: 0,
        Standing.UNSURE: 1,
        Standing.ALLOWED: 2,
    }
    assert (found.allowed[Verdict.FALLBACK], found.allowed[Verdict.NATIVE]) == (1, 1)


def test_the_room_reads_nothing() -> None:
    """Neither files nor the clock: what it decides follows from what it is given."""
    folder = Path(judge.__code__.co_filename).parent
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    assert not [word for word in ("today()", "open(", "environ", "Path(") if word in text]
