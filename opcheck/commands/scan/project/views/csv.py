"""A project's answer as rows of a table: one for each source on each target."""

from collections.abc import Iterator

from opcheck.lang.speech import Language, speaking
from opcheck.model.project import ProjectReport, worst
from opcheck.model.report import TargetReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import as_csv
from opcheck.views.order import arranged
from opcheck.views.project.rest import first_in_the_way
from opcheck.views.project.sentences import unanswered

COLUMNS = (
    *("source", "target", "verdict", "runs", "support_rate", "operator", "reason", "why"),
    *("file", "line", "module", "error"),
)
Row = tuple[object, ...]


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """Give the verdict, and what is first in the way; in English, as any table."""
    with speaking(Language.ENGLISH):
        return as_csv(COLUMNS, _rows(found))


def _rows(found: ProjectReport) -> Iterator[Row]:
    for one in found.sources:
        for target in arranged(one.report).targets if one.report is not None else ():
            yield one.name, *_row(target), ""
    for name, error, _ in unanswered(found):
        yield name, *[""] * 10, error


def _row(target: TargetReport) -> Row:
    figures = target.summary
    runs = "" if figures.runs is None else str(figures.runs).lower()
    rate = "" if figures.support_rate is None else figures.support_rate
    return target.target, worst(target), runs, rate, *_first(target)


def _first(target: TargetReport) -> Row:
    """What is first in the way, and the first place of it; blank where nothing is."""
    found = first_in_the_way(target)
    if found is None:
        return ("",) * 6
    place = found.uses[0] if found.uses else None
    where = ("", "", "") if place is None else (place.file, place.line or "", place.module)
    return found.op, found.reason.code, found.reason.text, *where
