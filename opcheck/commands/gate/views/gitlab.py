"""A gate's answer as GitLab's code quality report."""

from collections.abc import Iterator

from opcheck.commands.gate import sentences
from opcheck.commands.gate.sentences import finding_sentence, pairs
from opcheck.commands.gate.values import GateResult, Standing
from opcheck.lang.speech import tell
from opcheck.views.document.parts import Json, as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import model_file, one_line, where
from opcheck.views.targets import short_names

SEVERITIES = {Standing.FAILS: "critical", Standing.UNCHANGED: "minor"}
"""What is listed: the target branch's report has what is unchanged, and so must this one."""


def render(found: GateResult, page: Page = PLAIN) -> str:
    """What fails, what is unchanged, and how many more are hidden: by what is not told here."""
    return as_text([*_limits(found), *_findings(found), *_hidden(found)])


def _limits(found: GateResult) -> Iterator[Json]:
    names = short_names(found.report.targets)
    place = model_file(found.report), 1
    for gate, target in pairs(found):
        for breach in gate.breaches:
            if not breach.baselined:
                standing = Standing.UNCHANGED if breach.unchanged else Standing.FAILS
                text = f"{target.target}: {tell(sentences.broken(breach))}"
                key = f"{breach.limit}", names[target.target]
                yield _issue(text, f"opcheck/{breach.limit}", key, SEVERITIES[standing], place)


def _findings(found: GateResult) -> Iterator[Json]:
    names = short_names(found.report.targets)
    for gate, target in pairs(found):
        for one in gate.judged:
            finding = one.finding
            if one.standing in SEVERITIES:
                name = f"opcheck/{finding.verdict}/{finding.reason.code}"
                key = finding.id, names[target.target]
                place = where(found.report, finding)
                severity = SEVERITIES[one.standing]
                yield _issue(finding_sentence(target, finding), name, key, severity, place)


def _hidden(found: GateResult) -> Iterator[Json]:
    """One line of information, so that nothing is left out in silence."""
    counts = found.standings
    if sum(count for standing, count in counts.items() if standing not in SEVERITIES):
        place = (found.policy or model_file(found.report)), 1
        text = f"opcheck gate: {tell(sentences.hidden(found))}"
        yield _issue(text, "opcheck/hidden", ("hidden", found.model.source), "info", place)


def _issue(
    text: str, name: str, key: tuple[str, str], severity: str, place: tuple[str, int]
) -> Json:
    from opcheck.views.report.gitlab import fingerprint

    path, line = place
    return {
        "description": one_line(text),
        "check_name": one_line(name),
        "fingerprint": fingerprint(*key),
        "severity": severity,
        "location": {"path": one_line(path), "lines": {"begin": line}},
    }
