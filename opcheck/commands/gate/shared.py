"""What a gate says of findings, in the words that several formats share."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from opcheck.commands.gate.terminal import words
from opcheck.commands.gate.values import GAP, GateResult, Judged, Standing, TargetGate
from opcheck.lang.speech import tell, wording
from opcheck.model.report import Finding, TargetReport
from opcheck.model.text import printable
from opcheck.views.interchange import ended, one_line, sentence
from opcheck.views.order import arranged
from opcheck.views.terminal import words as common

PASSED = {True: "{model} passes the gate", False: "{model} fails the gate"}


def pairs(found: GateResult) -> Iterator[tuple[TargetGate, TargetReport]]:
    """Each target as it was judged, with what the report, arranged, says of it."""
    yield from zip(found.targets, arranged(found.report).targets, strict=True)


def titled(finding: Finding) -> str:
    """The operator; for a gap or an advisory on a target, that it is one."""
    if finding.op:
        return one_line(finding.op)
    return words.NOT_SEEN if finding.reason.code == GAP else words.WHOLE_TARGET


def told(target: TargetReport, finding: Finding) -> str:
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
            text = "; ".join(tell(f"waived: {words.until(waiver)}") for waiver in waivers)
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
    lines = [wording(PASSED[found.passed]).replace("{model}", model)]
    lines += [f"{one.target}: {tell(words.verdict(one))}" for one in found.targets[:most]]
    if len(found.targets) > most:
        lines.append(tell(common.and_more(len(found.targets) - most, "target")))
    if found.against:
        lines.append(tell(words.since(found)))
    return [printable(line, kept="") for line in (*lines, tell(words.hidden(found)))]
