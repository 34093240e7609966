"""What the answer rests on: what was not seen, what holds for whole targets, sizes, versions."""

from collections.abc import Sequence

from msgspec import Struct

from opcheck.lang.sentence import Sentence, chained
from opcheck.lang.speech import tell
from opcheck.model.dynamic import SiteTaken
from opcheck.model.report import Report, TargetReport
from opcheck.views.targets import short_names
from opcheck.views.terminal import words
from opcheck.views.terminal.model_lists import said as listed_as
from opcheck.views.terminal.notation import plural


class Part(Struct, frozen=True):
    """One list that is folded away until somebody opens it."""

    title: str
    meaning: str
    count: str
    rows: tuple[tuple[str, str], ...]
    """What it is about, and what is said of it."""
    open: bool = False

    @property
    def about(self) -> str:
        """How many there are, and what that means."""
        return chained([self.count, self.meaning], ", ")


def parts(report: Report) -> tuple[Part, ...]:
    """Those that have something to say."""
    trace = report.trace
    gaps = tuple((gap.where or tell(words.ROOT), gap.reason) for gap in trace.gaps)
    found = (
        Part(*words.GAPS, plural(len(gaps), "gap"), gaps, open=bool(gaps)),
        _lists(report.targets),
        _advisories(report.targets),
        _sizes(report.targets),
        _kernels(report.targets),
        Part(
            *words.NOT_CALLED,
            plural(len(trace.modules_not_called), "module"),
            tuple((module, "") for module in trace.modules_not_called),
        ),
    )
    return tuple(part for part in found if part.rows)


def facts(report: Report) -> tuple[tuple[str, str], ...]:
    """Model, trace, versions and database, each with its name."""
    trace = report.trace
    recorded = Sentence(
        "{said_mode}, {said}, {said_calls}, as {device}",
        said_mode=trace.mode,
        said=plural(trace.operators, "operator"),
        said_calls=plural(trace.calls, "call"),
        device=trace.device_type,
    )
    dates = sorted({target.database_date for target in report.targets if target.database_date})
    digests = {target.database_digest for target in report.targets}
    digest = digests.pop() if len(digests) == 1 else ""
    return (
        ("model", f"{report.model.source} ({report.model.kind})"),
        ("digest", report.model.digest),
        ("trace", tell(recorded)),
        ("torch", report.torch_version),
        ("opcheck", report.opcheck_version),
        ("database", " ".join(text for text in (*dates[-1:], digest) if text)),
    )


def _lists(targets: Sequence[TargetReport]) -> Part:
    names = short_names(targets)
    told: dict[str, list[str]] = {}
    for target in targets:
        for one in target.model.listed if target.model else ():
            told.setdefault(listed_as(one), []).append(names[target.target])
    rows = tuple((_whom(some, targets), text) for text, some in told.items())
    return Part(*words.LISTS, plural(len(rows), "row"), rows)


def _advisories(targets: Sequence[TargetReport]) -> Part:
    names = short_names(targets)
    said: dict[str, list[str]] = {}
    for target in targets:
        for text in dict.fromkeys(advisory.text for advisory in target.advisories):
            said.setdefault(text, []).append(names[target.target])
    rows = tuple((_whom(some, targets), text) for text, some in said.items())
    count = Sentence(
        "{count} advisory" if len(rows) == 1 else "{count} advisories", count=len(rows)
    )
    return Part(*words.ADVISORIES, count, rows)


def _sizes(targets: Sequence[TargetReport]) -> Part:
    names = short_names(targets)
    said: dict[tuple[str, str], list[str]] = {}
    for target in targets:
        for taken in target.dynamic:
            said.setdefault(_size_row(taken), []).append(names[target.target])
    rows = tuple(
        (about, f"{_whom(some, targets)}: {tell(text)}") for (about, text), some in said.items()
    )
    return Part(*words.SIZES, plural(len(rows), "place"), rows)


def _size_row(taken: SiteTaken) -> tuple[str, str]:
    site = taken.site
    place = f"{site.file}:{site.line}" if site.file else site.module or words.ROOT
    about = " ".join(text for text in (place, site.op) if text)
    said = chained([site.text, taken.text], "; ")
    return about, Sentence("{said_how}: {said}", said_how=words.TAKING[taken.how], said=said)


def _kernels(targets: Sequence[TargetReport]) -> Part:
    names = short_names(targets)
    rows = tuple(
        (
            f"{names[target.target]}: {kernel.op}",
            chained([kernel.verdict, plural(kernel.count, "call"), kernel.phase], ", "),
        )
        for target in targets
        for kernel in target.kernels or ()
    )
    return Part(*words.KERNELS, plural(len(rows), "kernel"), rows)


def _whom(some: Sequence[str], targets: Sequence[TargetReport]) -> str:
    return tell(words.EVERY_TARGET) if len(some) == len(targets) else ", ".join(some)
