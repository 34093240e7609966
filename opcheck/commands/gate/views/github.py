"""A gate's answer as workflow commands of GitHub Actions."""

from collections.abc import Iterator, Sequence

from opcheck.commands.gate import sentences
from opcheck.commands.gate.sentences import bare, excused, pairs, summed, titled
from opcheck.commands.gate.values import GateResult, Judged, Standing
from opcheck.lang.catalogue import joined
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, TargetReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import claim, command, ended, model_file, reasoned, what_of_it, where
from opcheck.views.terminal import words as common

NEW = "new"
NAMED = 10
"""Targets that one annotation names."""


def render(found: GateResult, page: Page = PLAIN) -> str:
    """The answer, then an error for each thing that fails, then what to look after."""
    lines = [_summary(found), *_limits(found), *_findings(found, Standing.FAILS, "error")]
    warnings = map(tell, sentences.warnings(found))
    lines += [command("warning", {"title": "opcheck gate"}, text) for text in warnings]
    if page.waived:
        lines += _findings(found, Standing.WAIVED, "notice")
    return "".join(f"{line}\n" for line in lines)


def _summary(found: GateResult) -> str:
    name = "notice" if found.passed else "error"
    return command(name, {"title": "opcheck gate"}, "\n".join(summed(found, NAMED)))


def _limits(found: GateResult) -> Iterator[str]:
    place = {"file": model_file(found.report), "line": "1"}
    for target in found.targets:
        for breach in target.broken:
            properties = {**place, "title": f"opcheck gate: {breach.limit}"}
            yield command("error", properties, f"{target.target}: {tell(sentences.broken(breach))}")


def _findings(found: GateResult, standing: Standing, name: str) -> Iterator[str]:
    """What is the same on several targets is one annotation that names them all."""
    alike: dict[tuple[object, ...], list[tuple[TargetReport, Judged]]] = {}
    for gate, target in pairs(found):
        for one in gate.judged:
            if one.standing is standing:
                finding = one.finding
                key = (finding.id, finding.op, finding.verdict, where(found.report, finding))
                alike.setdefault(key, []).append((target, one))
    for members in alike.values():
        yield _finding(found, members, name)


def _finding(found: GateResult, members: Sequence[tuple[TargetReport, Judged]], name: str) -> str:
    first, one = members[0]
    finding = one.finding
    file, line = where(found.report, finding)
    title = f"{tell(titled(finding))}: {tell(finding.verdict)}"
    if found.against and one.standing is Standing.FAILS:
        title = f"{tell(NEW)}: {title}"
    properties = {"file": file, "line": str(line), "title": title}
    why = ended(excused(found, one))
    return command(name, properties, joined([*filter(None, (_message(first, members), why))]))


def _message(first: TargetReport, members: Sequence[tuple[TargetReport, Judged]]) -> str:
    """The claim, then the reasons, each with the targets of which it is."""
    on: dict[str, list[str]] = {}
    for target, one in members:
        on.setdefault(_why(one.finding), []).append(target.target)
    reasons = joined([f"{_named(targets)}: {text}" for text, targets in on.items()])
    finding = members[0][1].finding
    if not finding.op:
        return reasons
    return joined([claim(finding, bool(first.elsewhere)), reasons, what_of_it(finding)])


def _why(finding: Finding) -> str:
    return reasoned(finding) if finding.op else tell(bare(finding))


def _named(targets: Sequence[str]) -> str:
    told = list(targets[:NAMED])
    if len(targets) > NAMED:
        told[-1] += f" {tell(common.and_more(len(targets) - NAMED, 'target'))}"
    return ", ".join(told)
