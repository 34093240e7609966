"""The page on a gate: pass or fail, what fails, what is hidden, what to look after."""

from collections.abc import Sequence

from opcheck.commands.gate import sentences
from opcheck.commands.gate.values import GateResult, Judged, Standing, TargetGate
from opcheck.lang.sentence import Sentence, verbatim, with_sign
from opcheck.lang.speech import tell
from opcheck.model.report import Finding
from opcheck.model.verdict import Verdict
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Atom, Canvas, phrase, split
from opcheck.views.terminal.evidence import cited, write_evidence
from opcheck.views.terminal.findings import (
    about,
    after_dot,
    first_place,
    most_costly,
    write_left_out,
    write_places,
)
from opcheck.views.terminal.head import mark, unbroken
from opcheck.views.terminal.notation import STYLES, plural
from opcheck.views.terminal.sections import write_heading

FINDINGS = 20
"""How many of a target are listed unless all are asked for."""


def render(found: GateResult, page: Page = PLAIN) -> str:
    """The whole answer as text, or whether each target passes."""
    return _lines(found, page) if page.quiet else _page(found, page)


def _page(found: GateResult, page: Page) -> str:
    canvas = Canvas(page)
    _write_head(canvas, found)
    for target in found.targets:
        if not target.passed:
            _write_target(canvas, target)
        if target.fixed:
            _write_fixed(canvas, target)
    if page.waived:
        _write_waived(canvas, found)
    _write_warnings(canvas, list(sentences.warnings(found)))
    canvas.blank()
    canvas.flow(split(sentences.rests_on(found), "dim"))
    canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))
    return canvas.text()


def _lines(found: GateResult, page: Page) -> str:
    """Whether each target passes."""
    canvas = unbroken(page)
    for target in found.targets:
        sign = mark(target.passed, canvas.marks)
        model, on = (found.model.source, "bold"), (target.target, "bold")
        said = split(sentences.verdict(target), sign[1])
        canvas.flow([sign, *phrase(common.VERDICT, said=said, model=[model], target=[on])])
    return canvas.text()


def _write_head(canvas: Canvas, found: GateResult) -> None:
    if found.ended is not None:
        canvas.flow(split(common.partial(found.ended.where), "bold magenta"))
        canvas.blank()
    sign = mark(found.passed, canvas.marks)
    passed = with_sign(sentences.PASSED[found.passed], ":")
    canvas.flow([sign, (tell(passed), sign[1]), (found.model.source, "bold")])
    for target in found.targets:
        sign = mark(target.passed and found.ended is None, canvas.marks)
        said = sentences.SO_FAR if target.passed and found.ended else sentences.verdict(target)
        name: list[Atom] = [(f"{target.target}:", "bold")]
        canvas.flow([*name, *split(said, sign[1])], 4, [("  ", ""), sign, (" ", "")])
    if found.against:
        canvas.flow(split(sentences.since(found)), 2)
    canvas.flow(split(sentences.hidden(found)), 2)
    if found.accepted is not None:
        count = sum(len(target.findings) for target in found.accepted.targets)
        canvas.flow(split(sentences.accepted(count)), 2)


def _write_target(canvas: Canvas, target: TargetGate) -> None:
    failing = target.failing
    if target.broken:
        write_heading(canvas, sentences.BROKEN, target.target, "red")
        for breach in target.broken:
            canvas.flow(split(sentences.broken(breach)), 2)
    if failing:
        write_heading(canvas, sentences.FAILS, target.target, "red")
    findings, top = [one.finding for one in failing], canvas.page.top
    few = findings if canvas.page.full else findings[:FINDINGS]
    shown = few if top is None else most_costly(findings)[:top]
    for finding in shown:
        canvas.blank()
        _write_finding(canvas, finding)
    write_left_out(canvas, len(failing) - len(shown))


def _write_fixed(canvas: Canvas, target: TargetGate) -> None:
    """One line each: there is nothing left to do about it."""
    write_heading(canvas, sentences.FIXED, target.target, "green")
    shown = target.fixed if canvas.page.full else target.fixed[:FINDINGS]
    for finding in shown:
        canvas.flow([*_headline(canvas, finding), *after_dot(canvas, finding.id)], 2)
    write_left_out(canvas, len(target.fixed) - len(shown))


def _write_finding(canvas: Canvas, finding: Finding) -> None:
    """Overload, verdict, where, why, how that is known, and the name to waive it by."""
    canvas.flow(_headline(canvas, finding), 2)
    if finding.uses and canvas.page.full:
        write_places(canvas, finding.uses, counted=bool(finding.op))
    elif finding.uses:
        canvas.field(common.WHERE, first_place(finding.uses), 4)
    canvas.field(common.WHY, split(finding.reason.text), 4)
    if finding.evidence and canvas.page.full:
        write_evidence(canvas, finding.evidence)
    elif finding.evidence:
        canvas.field(common.EVIDENCE, cited(finding.evidence[0]), 4)
    for i, step in enumerate(finding.steps if canvas.page.explain else ()):
        canvas.field("" if i else common.TRIED, split(step), 4)
    for way in finding.suggestions if canvas.page.full else finding.suggestions[:1]:
        canvas.field(sentences.INSTEAD, split(sentences.suggestion_text(way)), 4)
    known = [(finding.id, "bold"), *after_dot(canvas, finding.reason.code)]
    known += after_dot(canvas, common.confidence(finding.confidence.value))
    canvas.field(sentences.ID, known, 4)


def _headline(canvas: Canvas, finding: Finding) -> list[Atom]:
    style = f"bold {STYLES[finding.verdict]}"
    if finding.op:
        return [(finding.op, style), *about(canvas, finding)]
    gap = finding.verdict is Verdict.UNKNOWN
    return [*split(sentences.NOT_SEEN if gap else sentences.WHOLE_TARGET, style)]


def _write_waived(canvas: Canvas, found: GateResult) -> None:
    """Each finding of which uses are waived, and by what."""
    count = found.standings[Standing.WAIVED] + found.waived_in_part
    write_heading(canvas, sentences.WAIVED, plural(count, "finding"), "")
    for target in found.targets:
        for one in target.judged:
            if one.waivers:
                _write_waived_one(canvas, found, target, one)


def _write_waived_one(canvas: Canvas, found: GateResult, target: TargetGate, one: Judged) -> None:
    canvas.blank()
    canvas.flow([*_headline(canvas, one.finding), *after_dot(canvas, target.target)], 2)
    canvas.field(sentences.ID, [(one.finding.id, "bold")], 4)
    for i in one.waivers:
        waiver = found.waivers[i].waiver
        told = Sentence(
            "{said}: {said_until}", said=sentences.named(waiver), said_until=sentences.until(waiver)
        )
        canvas.field(sentences.WAIVED_BY, split(told), 4)


def _write_warnings(canvas: Canvas, warnings: Sequence[str]) -> None:
    if warnings:
        write_heading(canvas, sentences.WARNINGS, "", "yellow")
    for warning in warnings:
        canvas.flow(split(warning), 2)
