"""The page on a project: a line for each source on each target, then what has no answer."""

from collections.abc import Sequence

from opcheck.lang.sentence import Sentence, verbatim
from opcheck.lang.speech import tell
from opcheck.model.project import ProjectReport, SourceResult, worst
from opcheck.model.report import Report, TargetReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.order import arranged
from opcheck.views.project import sentences
from opcheck.views.project.rest import TARGETS, write_rest
from opcheck.views.report import text as report_text
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Atom, Canvas, split
from opcheck.views.terminal.head import breaks, mark
from opcheck.views.terminal.notation import STYLES


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """The whole answer as text; the page of each source as well, where all is asked for."""
    canvas = Canvas(page)
    shown = [one for one in found.sources if not one.error or one.refused]
    if not page.quiet:
        _write_title(canvas, found)
    if shown and not page.quiet:
        canvas.blank()
    for one in shown:
        if one.report is not None:
            _write_source(canvas, one, one.report)
    if page.quiet:
        _write_failed(canvas, found)
    else:
        write_rest(canvas, found)
        canvas.blank()
        canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))
    return canvas.text() + _pages(found, page)


def _write_title(canvas: Canvas, found: ProjectReport) -> None:
    """The folder, how its sources fare, and what lists them."""
    canvas.flow([(f"{found.folder}:", "bold"), *split(sentences.counted(found))])
    by = Sentence("found by reading its files; opcheck init lists them for you to change")
    if found.policy:
        by = Sentence("listed in {file}", file=found.policy)
    canvas.flow(split(by, "dim"), 2)


def _write_failed(canvas: Canvas, found: ProjectReport) -> None:
    """A line for each source without a whole answer."""
    for name, error, _ in sentences.unanswered(found):
        canvas.flow([mark(False, canvas.marks), (f"{name}:", "bold"), *split(error)])


def _write_source(canvas: Canvas, one: SourceResult, report: Report) -> None:
    canvas.flow([(one.name, "bold")])
    targets = arranged(report).targets
    shown = targets if canvas.page.full else _worst_first(targets)[:TARGETS]
    for target in shown:
        if not one.error or target.summary.runs is False:  # else what was not seen is all there is
            _write_target(canvas, target)
    if len(shown) < len(targets):
        canvas.flow(split(common.and_more(len(targets) - len(shown), "target"), "dim"), 4)


def _worst_first(targets: Sequence[TargetReport]) -> list[TargetReport]:
    """The targets in their order; where there are many, those first on which it fares worst."""
    if len(targets) <= TARGETS:
        return list(targets)
    return sorted(targets, key=lambda target: -worst(target).rank)


def _write_target(canvas: Canvas, target: TargetReport) -> None:
    verdict = worst(target)
    runs = target.summary.runs
    sign = mark(bool(runs), canvas.marks)
    line: list[Atom] = [(target.target, ""), (tell(verdict.value), STYLES[verdict])]
    trouble = breaks(target)
    lead: list[Atom] = [("  ", ""), sign, (" ", "")]
    canvas.flow([*line, *([("·", "dim")] if trouble else []), *trouble], 4, lead)


def _pages(found: ProjectReport, page: Page) -> str:
    """The page of each source, where all is asked for, or there is one source alone."""
    alone = len(found.sources) == 1 and not page.quiet
    if not (page.full or alone):
        return ""
    reports = [one.report for one in found.sources if one.report is not None]
    return "".join(f"\n{report_text.render(report, page)}" for report in reports)
