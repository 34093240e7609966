"""Every sentence about a gate, and what its formats say of findings in the same words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from opcheck.commands.gate.values import (
    GAP,
    Breach,
    GateResult,
    Judged,
    Limit,
    Standing,
    TargetGate,
)
from opcheck.lang.sentence import Sentence, chained
from opcheck.lang.speech import tell, wording
from opcheck.model.plan import Suggestion
from opcheck.model.policy import Waiver
from opcheck.model.report import Finding, TargetReport
from opcheck.model.text import printable
from opcheck.views.interchange import ended, one_line, sentence
from opcheck.views.order import arranged
from opcheck.views.terminal import words as common
from opcheck.views.terminal.notation import plural, size

PASSED: Mapping[bool, str] = {True: "passes the gate:", False: "fails the gate:"}
SO_FAR = "nothing fails so far, and the rest was not seen"
NO_POLICY = "no policy file, so the defaults hold; opcheck init writes one"
FAILS = ("Fails", "not allowed by the policy")
BROKEN = ("Limits", "beyond what the policy allows")
WAIVED = ("Waived", "hidden from the gate")
FIXED = ("Fixed", "failed before, fails no more")
WARNINGS = ("Warnings", "nothing that fails, but to be looked after")
NOT_SEEN = "(not seen)"
"""In place of an operator, for a gap of the trace."""
WHOLE_TARGET = "(whole target)"
"""In place of an operator, for an advisory on a target."""
ID = "id"
INSTEAD = "instead"
WAIVED_BY = "waiver"


def verdict(target: TargetGate) -> str:
    """How one target fares."""
    if target.passed:
        return "passes"
    new = "" if target.before is None else "new "
    failing, broken = len(target.failing), len(target.broken)
    said = [plural(failing, f"{new}finding")] if failing else []
    said += [plural(broken, "limit")] if broken else []
    return f"fails by {' and '.join(said)}"


def since(found: GateResult) -> str:
    """What changed since the report that this one is compared with."""
    counts = found.standings
    fixed = sum(len(target.fixed) for target in found.targets)
    return (
        f"compared with {found.against}: {counts[Standing.FAILS]:,} new, {fixed:,} fixed, "
        f"{counts[Standing.UNCHANGED]:,} unchanged"
    )


def rests_on(found: GateResult) -> Sentence:
    """Which files the answer rests on."""
    policy, baseline = Sentence(NO_POLICY), Sentence("baseline: none")
    if found.policy:
        policy = Sentence("policy: {file}", file=found.policy)
    if found.baseline:
        baseline = Sentence("baseline: {file}", file=found.baseline)
    return chained((policy, baseline), "; ")


def hidden(found: GateResult) -> str:
    """Every number of what does not fail and is no good news either, zeros too."""
    counts = found.standings
    allowed = ", ".join(
        f"{count:,} {verdict.value}" for verdict, count in found.allowed.items() if count
    )
    told = f" ({allowed})" if allowed else ""
    limits = _and(found.baselined_limits)
    part = f" and {found.waived_in_part:,} in part" if found.waived_in_part else ""
    same = ""
    if found.against:
        same = f"{counts[Standing.UNCHANGED]:,} unchanged{_and(found.unchanged_limits)}, "
    total = sum(counts.values()) - counts[Standing.FAILS]
    return (
        f"hidden: {plural(total, 'finding')}; {counts[Standing.WAIVED]:,} waived{part}, "
        f"{counts[Standing.BASELINED]:,} in the baseline{limits}, {same}"
        f"{counts[Standing.UNSURE]:,} less sure than the policy asks, "
        f"{counts[Standing.ALLOWED]:,} allowed{told}"
    )


def _and(limits: int) -> str:
    return f" and {plural(limits, 'limit')}" if limits else ""


def broken(breach: Breach) -> str:
    """What a limit asks, and what there is."""
    match breach.limit:
        case Limit.SUPPORT_RATE:
            there = "none was called" if breach.found is None else f"{breach.found:.2%}"
            return f"share of operators that run natively: {there}, at least {breach.wanted:.2%}"
        case Limit.ISLANDS:
            return f"pieces between fallbacks: {breach.found:,.0f}, at most {breach.wanted:,.0f}"
        case Limit.FALLBACK_BYTES:
            found, most = size(int(breach.found or 0)), size(int(breach.wanted))
            return f"moved for fallbacks: {found}, at most {most}"


def named(waiver: Waiver) -> str:
    """What a waiver is for."""
    what = waiver.operator or f"finding {waiver.finding}"
    module = "" if waiver.module == "*" else f" in {waiver.module}"
    target = "" if str(waiver.target) == "*" else f" on {waiver.target}"
    return f"{what}{module}{target}"


def expired(waiver: Waiver, matched: int) -> str:
    """That a waiver does not hold any more, and what that brings back."""
    back = f"{plural(matched, 'finding')} back" if matched else "nothing that it hid is left"
    return f"the waiver for {named(waiver)} expired on {waiver.expires}: {back}"


def unmatched(waiver: Waiver) -> str:
    """That a waiver hides nothing."""
    return f"the waiver for {named(waiver)} matches nothing that fails: take it out"


def warnings(found: GateResult) -> Iterator[str]:
    """What to look after: waivers, baseline, and what there was to compare with."""
    for use in found.waivers:
        if use.expired:
            yield expired(use.waiver, use.matched)
        elif not use.matched:
            yield unmatched(use.waiver)
    for target in found.targets:
        if target.gone:
            yield gone(target.gone, target.target)
        if target.before is not None and not target.before.target:
            yield not_before(target.target, found.against)
        elif target.before is not None and not target.before.same_database:
            yield other_data(target.target, found.against)


def until(waiver: Waiver) -> str:
    """Why and until when a waiver holds."""
    return f"{waiver.reason} (until {waiver.expires})"


def gone(count: int, target: str) -> str:
    """That a baseline is larger than it needs to be."""
    return (
        f"{plural(count, 'finding')} of the baseline {'is' if count == 1 else 'are'} no more on "
        f"{target}: write it anew with --write-baseline"
    )


def suggestion_text(way: Suggestion) -> str:
    """What to write or to set, and how far it gives the same."""
    lost = f"; trade-off: {way.gives_up}" if way.gives_up else ""
    return f"{way.summary} ({way.label}, {way.rule}{lost})"


def not_before(target: str, against: str) -> str:
    """That there is nothing to compare a target with."""
    return f"{against} has not {target}: all that fails there is new"


def other_data(target: str, against: str) -> str:
    """That not only the model may have changed."""
    return f"{against} rests on other data of {target}: what is new may come from there"


def accepted(count: int) -> str:
    """What became the baseline."""
    return f"{plural(count, 'finding')} accepted as the baseline"


PASSES_OR_FAILS = {True: "{model} passes the gate", False: "{model} fails the gate"}


def pairs(found: GateResult) -> Iterator[tuple[TargetGate, TargetReport]]:
    """Each target as it was judged, with what the report, arranged, says of it."""
    yield from zip(found.targets, arranged(found.report).targets, strict=True)


def titled(finding: Finding) -> str:
    """The operator; for a gap or an advisory on a target, that it is one."""
    if finding.op:
        return one_line(finding.op)
    return NOT_SEEN if finding.reason.code == GAP else WHOLE_TARGET


def finding_sentence(target: TargetReport, finding: Finding) -> str:
    """What runs against the policy, as a sentence that names the target."""
    if finding.op:
        return sentence(target, finding)
    return one_line(f"{target.target}: {tell(bare(finding))}")


def bare(finding: Finding) -> str:
    """What a gap or an advisory says, with the place of a gap."""
    if finding.reason.code != GAP:
        return ended(finding.reason.text)
    module = ", ".join(use.module or common.ROOT for use in finding.uses)
    return one_line(f"{module} could not be seen: {ended(finding.reason.text)}")


def excused(found: GateResult, one: Judged) -> str:
    """Why a finding does not fail; empty for one that does."""
    match one.standing:
        case Standing.FAILS:
            return ""
        case Standing.WAIVED:
            waivers = [found.waivers[i].waiver for i in one.waivers]
            text = "; ".join(tell(f"waived: {until(waiver)}") for waiver in waivers)
        case Standing.BASELINED:
            text = tell(f"in the baseline{f' {found.baseline}' if found.baseline else ''}")
        case Standing.UNCHANGED:
            text = tell(f"unchanged since {found.against}")
        case Standing.UNSURE:
            text = tell("less sure than the policy asks")
        case Standing.ALLOWED:
            text = tell("allowed by the policy")
        case _:
            assert_never(one.standing)
    return one_line(text)


def summed(found: GateResult, most: int) -> Sequence[str]:
    """Pass or fail, then each target as far as ``most``, then what is hidden: one line each."""
    model = found.model.source or tell("the model")
    lines = [wording(PASSES_OR_FAILS[found.passed]).replace("{model}", model)]
    lines += [f"{one.target}: {tell(verdict(one))}" for one in found.targets[:most]]
    if len(found.targets) > most:
        lines.append(tell(common.and_more(len(found.targets) - most, "target")))
    if found.against:
        lines.append(tell(since(found)))
    return [printable(line, kept="") for line in (*lines, tell(hidden(found)))]
