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
from opcheck.lang.sentence import Sentence, chained, changed, in_brackets, verbatim
from opcheck.lang.speech import tell, wording
from opcheck.model.plan import Suggestion
from opcheck.model.policy import Waiver
from opcheck.model.report import Finding, TargetReport
from opcheck.model.text import printable
from opcheck.model.verdict import Verdict
from opcheck.views.interchange import ended, one_line, sentence
from opcheck.views.order import arranged
from opcheck.views.terminal import words as common
from opcheck.views.terminal.notation import plural, size
from opcheck.views.terminal.plan_words import GIVES_UP

PASSED: Mapping[bool, str] = {True: "passes the gate", False: "fails the gate"}
SO_FAR = "nothing fails so far, and the rest was not seen"
NO_POLICY = "no policy file, so the defaults hold; opcheck init writes one"
FAILS = ("Fails", "not allowed by the policy")
BROKEN = ("Limits", "beyond what the policy allows")
WAIVED = ("Waived", "hidden from the gate")
FIXED = ("Fixed", "failed before, fails no more")
WARNINGS = ("Warnings", "nothing that fails, but to be looked after")
NOT_SEEN = in_brackets("not seen")
"""In place of an operator, for a gap of the trace."""
WHOLE_TARGET = in_brackets("whole target")
"""In place of an operator, for an advisory on a target."""
ID = "id"
INSTEAD = "instead"
WAIVED_BY = "waiver"


def verdict(target: TargetGate) -> Sentence:
    """How one target fares."""
    if target.passed:
        return Sentence("passes")
    failing, broken = len(target.failing), len(target.broken)
    findings = plural(failing, "finding" if target.before is None else "new finding")
    limits = plural(broken, "limit")
    if failing and broken:
        return Sentence("fails by {said} and {said_more}", said=findings, said_more=limits)
    return Sentence("fails by {said}", said=findings if failing else limits)


def since(found: GateResult) -> Sentence:
    """What changed since the report that this one is compared with."""
    counts = found.standings
    fixed = sum(len(target.fixed) for target in found.targets)
    return Sentence(
        "compared with {file}: {count} new, {count_fixed} fixed, {count_same} unchanged",
        file=found.against,
        count=f"{counts[Standing.FAILS]:,}",
        count_fixed=f"{fixed:,}",
        count_same=f"{counts[Standing.UNCHANGED]:,}",
    )


def rests_on(found: GateResult) -> Sentence:
    """Which files the answer rests on."""
    policy, baseline = Sentence(NO_POLICY), Sentence("baseline: none")
    if found.policy:
        policy = Sentence("policy: {file}", file=found.policy)
    if found.baseline:
        baseline = Sentence("baseline: {file}", file=found.baseline)
    return chained((policy, baseline), "; ")


def hidden(found: GateResult) -> Sentence:
    """Every number of what does not fail and is no good news either, zeros too."""
    counts = found.standings
    total = sum(counts.values()) - counts[Standing.FAILS]
    parts = [_waived(counts[Standing.WAIVED], found.waived_in_part)]
    parts.append(
        _with_limits("in the baseline", counts[Standing.BASELINED], found.baselined_limits)
    )
    if found.against:
        parts.append(_with_limits("unchanged", counts[Standing.UNCHANGED], found.unchanged_limits))
    unsure = f"{counts[Standing.UNSURE]:,}"
    parts.append(Sentence("{count} less sure than the policy asks", count=unsure))
    parts.append(_allowed(counts[Standing.ALLOWED], found.allowed))
    said = chained([plural(total, "finding"), chained(parts, ", ")], "; ")
    return Sentence("hidden: {said}", said=said)


def _waived(count: int, in_part: int) -> Sentence:
    if not in_part:
        return Sentence("{count} waived", count=f"{count:,}")
    return Sentence(
        "{count} waived and {count_part} in part", count=f"{count:,}", count_part=f"{in_part:,}"
    )


def _with_limits(where: str, count: int, limits: int) -> Sentence:
    """How many findings are hidden there, and how many limits."""
    more = " and {said}" if limits else ""
    return Sentence(f"{{count}} {where}{more}", count=f"{count:,}", said=plural(limits, "limit"))


def _allowed(count: int, by_verdict: Mapping[Verdict, int]) -> Sentence:
    each = [
        Sentence(f"{{count}} {verdict.value}", count=f"{number:,}")
        for verdict, number in by_verdict.items()
        if number
    ]
    if not each:
        return Sentence("{count} allowed", count=f"{count:,}")
    return Sentence("{count} allowed ({said})", count=f"{count:,}", said=chained(each, ", "))


def broken(breach: Breach) -> Sentence:
    """What a limit asks, and what there is."""
    match breach.limit:
        case Limit.SUPPORT_RATE if breach.found is None:
            return Sentence(
                "share of operators that run natively: none was called, at least {wanted}",
                wanted=f"{breach.wanted:.2%}",
            )
        case Limit.SUPPORT_RATE:
            return Sentence(
                "share of operators that run natively: {found}, at least {wanted}",
                found=f"{breach.found:.2%}",
                wanted=f"{breach.wanted:.2%}",
            )
        case Limit.ISLANDS:
            return Sentence(
                "partitions between fallbacks: {found}, at most {wanted}",
                found=f"{breach.found:,.0f}",
                wanted=f"{breach.wanted:,.0f}",
            )
        case Limit.FALLBACK_BYTES:
            return Sentence(
                "moved for fallbacks: {text}, at most {text_wanted}",
                text=size(int(breach.found or 0)),
                text_wanted=size(int(breach.wanted)),
            )


def named(waiver: Waiver) -> Sentence:
    """What a waiver is for."""
    what = "{op}" if waiver.operator else "finding {id}"
    module = "" if waiver.module == "*" else " in {text}"
    target = "" if str(waiver.target) == "*" else " on {target}"
    return Sentence(
        f"{what}{module}{target}",
        op=waiver.operator,
        id=waiver.finding,
        text=waiver.module,
        target=waiver.target,
    )


def expired(waiver: Waiver, matched: int) -> Sentence:
    """That a waiver does not hold any more, and what that brings back."""
    back = Sentence("nothing that it hid is left")
    if matched:
        back = Sentence("{said} back", said=plural(matched, "finding"))
    return Sentence(
        "the waiver for {text} expired on {date}: {said_back}",
        text=named(waiver),
        date=waiver.expires,
        said_back=back,
    )


def unmatched(waiver: Waiver) -> Sentence:
    """That a waiver hides nothing."""
    return Sentence(
        "the waiver for {text} matches nothing that fails: take it out", text=named(waiver)
    )


def warnings(found: GateResult) -> Iterator[Sentence]:
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


def until(waiver: Waiver) -> Sentence:
    """Why and until when a waiver holds."""
    return Sentence("{text} (until {date})", text=waiver.reason, date=waiver.expires)


def gone(count: int, target: str) -> Sentence:
    """That a baseline is larger than it needs to be."""
    template = (
        "{said} of the baseline is no more on {target}: write it anew with --write-baseline"
        if count == 1
        else "{said} of the baseline are no more on {target}: write it anew with --write-baseline"
    )
    return Sentence(template, said=plural(count, "finding"), target=target)


def suggestion_text(way: Suggestion) -> Sentence:
    """What to write or to set, and how far it gives the same."""
    about = chained([way.label, verbatim(way.rule)], ", ")
    if way.gives_up:
        lost = Sentence("{said}: {said_lost}", said=GIVES_UP, said_lost=way.gives_up)
        about = chained([about, lost], "; ")
    return Sentence("{said} ({said_about})", said=way.summary, said_about=about)


def not_before(target: str, against: str) -> Sentence:
    """That there is nothing to compare a target with."""
    return Sentence(
        "{file} has not {target}: all that fails there is new", file=against, target=target
    )


def other_data(target: str, against: str) -> Sentence:
    """That not only the model may have changed."""
    return Sentence(
        "{file} rests on other data of {target}: what is new may come from there",
        file=against,
        target=target,
    )


def accepted(count: int) -> Sentence:
    """What became the baseline."""
    return Sentence("{said} accepted as the baseline", said=plural(count, "finding"))


PASSES_OR_FAILS = {True: "{model} passes the gate", False: "{model} fails the gate"}


def pairs(found: GateResult) -> Iterator[tuple[TargetGate, TargetReport]]:
    """Each target as it was judged, with what the report, arranged, says of it."""
    yield from zip(found.targets, arranged(found.report).targets, strict=True)


def titled(finding: Finding) -> Sentence:
    """The operator; for a gap or an advisory on a target, that it is one."""
    if finding.op:
        return verbatim(one_line(finding.op))
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
    module = [verbatim(use.module) if use.module else Sentence(common.ROOT) for use in finding.uses]
    told = Sentence(
        "{text} could not be seen: {said}",
        text=chained(module, ", "),
        said=ended(finding.reason.text),
    )
    return changed(told, one_line)


def excused(found: GateResult, one: Judged) -> str:
    """Why a finding does not fail; empty for one that does."""
    match one.standing:
        case Standing.FAILS:
            return ""
        case Standing.WAIVED:
            waivers = [found.waivers[i].waiver for i in one.waivers]
            text = "; ".join(tell(_waived_by(waiver)) for waiver in waivers)
        case Standing.BASELINED:
            named = "in the baseline {text}" if found.baseline else "in the baseline"
            text = tell(Sentence(named, text=found.baseline))
        case Standing.UNCHANGED:
            text = tell(Sentence("unchanged since {text}", text=found.against))
        case Standing.UNSURE:
            text = tell("less sure than the policy asks")
        case Standing.ALLOWED:
            text = tell("allowed by the policy")
        case _:
            assert_never(one.standing)
    return one_line(text)


def _waived_by(waiver: Waiver) -> Sentence:
    return Sentence("waived: {text} (until {date})", text=waiver.reason, date=waiver.expires)


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
