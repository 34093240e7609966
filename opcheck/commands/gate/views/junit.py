"""A gate's answer as JUnit's test suites: what fails, what is skipped and why, what passes."""

from collections.abc import Iterator

from opcheck.commands.gate import sentences
from opcheck.commands.gate.sentences import bare, excused, finding_sentence, pairs, summed, titled
from opcheck.commands.gate.values import Breach, GateResult, Judged, Standing, TargetGate
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, TargetReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import one_line
from opcheck.views.report.junit import Case, details, document, facts, suite


def render(found: GateResult, page: Page = PLAIN) -> str:
    """One suite a target: a case for each limit and for each finding."""
    warnings = (one_line(tell(text)) for text in sentences.warnings(found))
    said = "\n".join([*summed(found, len(found.targets)), *warnings])
    return document(
        suite(
            target,
            number,
            [*_cases(found, gate, target)],
            facts=[*facts(found.report, target), ("policy", found.policy)],
            out=said,
            err="",
            started=page.started,
        )
        for number, (gate, target) in enumerate(pairs(found))
    )


def _cases(found: GateResult, gate: TargetGate, target: TargetReport) -> Iterator[Case]:
    """What was judged, then what is good news: it passes."""
    yield from map(_limit, gate.breaches)
    for one in gate.judged:
        yield _judged(found, target, one)
    judged = {(one.finding.id, one.finding.op) for one in gate.judged}
    for finding in target.findings:
        if (finding.id, finding.op) not in judged:
            yield Case(_name(finding))


def _limit(breach: Breach) -> Case:
    text = tell(sentences.broken(breach))
    if breach.fails:
        return Case(breach.limit, "failure", text, breach.limit, (text,))
    return Case(breach.limit, "skipped", f"{tell('no worse than before')}: {text}")


def _judged(found: GateResult, target: TargetReport, one: Judged) -> Case:
    finding, text = one.finding, finding_sentence(target, one.finding)
    if one.standing is not Standing.FAILS:
        return Case(_name(finding), "skipped", f"{excused(found, one)}: {text}")
    kind = f"{finding.verdict}/{finding.reason.code}"
    return Case(_name(finding), "failure", text, kind, (text, *details(finding)))


def _name(finding: Finding) -> str:
    said = titled(finding) if finding.op else f"{titled(finding)} {bare(finding)}"
    return f"{said} {finding.reason.code} [{finding.id}]"
