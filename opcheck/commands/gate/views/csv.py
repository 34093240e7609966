"""A gate's answer as rows of a table."""

from collections.abc import Iterator

from opcheck.commands.gate import sentences
from opcheck.commands.gate.sentences import excused
from opcheck.commands.gate.values import Breach, GateResult, Judged, Standing
from opcheck.lang.speech import Language, speaking
from opcheck.model.report import Place
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import as_csv

COLUMNS = (
    *("target", "standing", "cause", "verdict", "operator", "phase", "calls"),
    *("file", "line", "module", "reason", "why", "confidence", "excused", "id"),
)
Row = tuple[object, ...]


def render(found: GateResult, page: Page = PLAIN) -> str:
    """Give what fails and what is hidden, with what hides it; in English, as any table."""
    with speaking(Language.ENGLISH):
        return as_csv(COLUMNS, _rows(found))


def _rows(found: GateResult) -> Iterator[Row]:
    """The limits, then a row for each place of what is no good news, whatever becomes of it."""
    for target in found.targets:
        for breach in target.breaches:
            yield _limit(target.target, breach)
        for one in target.judged:
            for place in one.finding.uses or (None,):
                yield _place(found, target.target, one, place)


def _limit(target: str, breach: Breach) -> Row:
    standing = Standing.FAILS if breach.fails else Standing.UNCHANGED
    standing = Standing.BASELINED if breach.baselined else standing
    blank = ("",) * 7
    return (target, standing, "limit", *blank, breach.limit, sentences.broken(breach), "", "", "")


def _place(found: GateResult, target: str, one: Judged, place: Place | None) -> Row:
    finding = one.finding
    calls = finding.count if place is None else place.count
    where = ("", "", "") if place is None else (place.file, place.line or "", place.module)
    return (
        target, one.standing, one.cause, finding.verdict, finding.op, finding.phase, calls, *where,
        finding.reason.code, finding.reason.text, finding.confidence, excused(found, one),
        finding.id,
    )  # fmt: skip
