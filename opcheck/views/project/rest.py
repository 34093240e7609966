"""What of a project has no answer and why, as several formats of several commands have it."""

from collections.abc import Iterator, Sequence

from opcheck.lang.speech import tell
from opcheck.model.project import Candidate, ProjectReport
from opcheck.model.report import Finding, TargetReport
from opcheck.views.markdown_text import LIMIT, code, colon, fitting, prose
from opcheck.views.project import sentences
from opcheck.views.report import junit
from opcheck.views.report.junit import Case
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.sections import write_heading

TARGETS = 12
"""Targets of a source that a page names unless all are asked for."""
LISTED = 20
"""Sources and notes that a section of it names."""
SIGNS = {True: "✅", False: "❌", None: "❔"}
_PART = LIMIT // 4
"""What of a comment the list of those without an answer may take."""


def write_rest(canvas: Canvas, found: ProjectReport) -> None:
    """What has no answer and why, what lacks something, and what was left out."""
    failed = [one for one in found.sources if one.error]
    if failed:
        write_heading(canvas, sentences.NOT_CHECKED, "", "red")
    for one in failed:
        canvas.flow([(f"{one.name}:", "bold"), *split(one.error)], 2)
        if one.hint:
            canvas.flow(split(one.hint, "dim"), 4)
    _write_lacking(canvas, found.lacking)
    if found.notes:
        write_heading(canvas, sentences.NOTES, "", "yellow")
    shown = found.notes if canvas.page.full else found.notes[:LISTED]
    for note in shown:
        canvas.flow(split(note), 2)
    _write_more(canvas, len(found.notes) - len(shown), "note")


def _write_lacking(canvas: Canvas, lacking: Sequence[Candidate]) -> None:
    if lacking:
        write_heading(canvas, sentences.LACKING, "", "yellow")
    shown = lacking if canvas.page.full else lacking[:LISTED]
    for one in shown:
        canvas.flow([(f"{one.source}:", "bold"), *split(sentences.lacks(one))], 2)
        canvas.flow(split(sentences.remedy(one), "dim"), 4)
    _write_more(canvas, len(lacking) - len(shown), "source")


def _write_more(canvas: Canvas, count: int, noun: str) -> None:
    if count:
        canvas.flow(split(common.and_more(count, noun), "dim"), 2)


def unchecked(found: ProjectReport) -> str:
    """Each source without a whole answer, and why; "" where there is none."""
    lines = [*_lines(found)]
    if not lines:
        return ""
    shown = fitting(lines, _PART)
    left = len(lines) - shown
    more = f"- {tell(common.and_more(left, 'source'))}\n" if left else ""
    return f"**{tell(sentences.NOT_CHECKED[0])}**\n\n{''.join(lines[:shown])}{more}\n"


def _lines(found: ProjectReport) -> Iterator[str]:
    for name, error, hint in sentences.unanswered(found):
        after = f" ({prose(hint)})" if hint else ""
        yield f"- {code(name)}{colon()}{prose(error)}{after}\n"


def inner(text: str) -> list[str]:
    """The lines of a document between its first two and its last."""
    return text.splitlines()[2:-1]


def without_answer(found: ProjectReport, started: str) -> Iterator[str]:
    """The suite of the sources without a whole answer; none where there are none."""
    cases = [
        Case(name, "error", tell(error), "not-checked", (tell(error), tell(hint)))
        for name, error, hint in sentences.unanswered(found)
    ]
    if cases:
        yield junit.plain_suite("opcheck", cases, started)


def first_in_the_way(target: TargetReport) -> Finding | None:
    """The worst finding that is not on the device, of the most calls; None where there is none."""
    bad = [finding for finding in target.findings if not finding.verdict.on_device]
    return max(bad, key=lambda one: (one.verdict.rank, one.count), default=None)
