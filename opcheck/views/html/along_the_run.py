"""A run from its first call to its last: where it breaks, and where it leaves the device."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.report import TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.order import WORST_FIRST
from opcheck.views.terminal import words
from opcheck.views.terminal.notation import plural

THINNEST = 0.2
"""Hundredths of the run below which a cut could not be seen."""


class Cut(Struct, frozen=True):
    """Calls in a row that do not stay on the device, in hundredths of the run."""

    verdict: Verdict
    start: float
    width: float
    calls: int
    module: str
    """Where the first of them is made; "" for the model itself."""

    @property
    def label(self) -> str:
        """What is shown of them where the mouse is."""
        return tell(words.called_in(self.module, plural(self.calls, "call")))


def cuts(target: TargetReport) -> tuple[Cut, ...]:
    """All of them, the worst last, so that nothing is drawn over it."""
    return tuple(sorted(_merged(_each(target)), key=lambda cut: -WORST_FIRST.index(cut.verdict)))


def pieces(target: TargetReport) -> Sentence:
    """How many calls would break; where none would, how many are not known; else the partitions."""
    for verdict, one, many in (
        (Verdict.UNSUPPORTED, "{count} call does not run", "{count} calls do not run"),
        (Verdict.UNKNOWN, "{count} call is unknown", "{count} calls are unknown"),
    ):
        if count := sum(part.calls for part in target.segments if part.verdict is verdict):
            return Sentence(one if count == 1 else many, count=f"{count:,}")
    return plural(target.summary.islands, "partition")


def _runs(target: TargetReport) -> Iterator[tuple[Verdict | None, int, str]]:
    """Verdict, calls and module of each piece; what falls back alone has its own cuts."""
    if target.segments:
        yield from ((part.verdict, part.calls, part.module) for part in target.segments)
    else:
        for part in target.partitions:
            yield Verdict.FALLBACK if part.fallback else None, part.calls, part.module


def _each(target: TargetReport) -> Iterator[Cut]:
    runs = list(_runs(target))
    total = sum(calls for _, calls, _ in runs)
    done = 0
    for verdict, calls, module in runs:
        if verdict is not None:
            start, width = 100 * done / total, max(100 * calls / total, THINNEST)
            yield Cut(verdict, round(min(start, 100 - width), 3), round(width, 3), calls, module)
        done += calls


def _merged(found: Iterator[Cut]) -> Iterator[Cut]:
    """The same with those of one verdict as one that are too near to be told apart."""
    last: Cut | None = None
    for cut in found:
        if last and last.verdict is cut.verdict and cut.start < last.start + last.width:
            width = round(cut.start + cut.width - last.start, 3)
            last = replace(last, width=width, calls=last.calls + cut.calls)
            continue
        if last:
            yield last
        last = cut
    if last:
        yield last
