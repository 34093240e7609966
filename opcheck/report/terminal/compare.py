"""Several targets side by side."""

from collections import Counter
from collections.abc import Mapping, Sequence

from opcheck.model.report import Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.report.terminal import words
from opcheck.report.terminal.breaks import breaks
from opcheck.report.terminal.canvas import Atom, Canvas, listed, split
from opcheck.report.terminal.head import fallback_cost, mark, write_gap_count
from opcheck.report.terminal.marks import STYLES
from opcheck.report.terminal.units import percent


def short_names(targets: Sequence[TargetReport]) -> Mapping[str, str]:
    """Target -> the shortest name that only it has: ``ascend-910b`` where there is one of it."""
    short = {target.target: f"{target.vendor}-{target.chip}" for target in targets}
    uses = Counter(short.values())
    return {full: name if uses[name] == 1 else full for full, name in short.items()}


def of_targets(
    some: Sequence[TargetReport], targets: Sequence[TargetReport], style: str = ""
) -> list[Atom]:
    """Whom a line is about: ``ascend-910a, ascend-310p:``, or every target."""
    if len(some) == len(targets):
        return split(f"{words.EVERY_TARGET}:", style)
    names = short_names(targets)
    return listed((names[target.target] for target in some), style, end=":")


def write_comparison(canvas: Canvas, report: Report) -> None:
    """One headline, one row a target, and what fallbacks cost where there are any."""
    targets = report.targets
    runs = [target.summary.runs for target in targets]
    headline = words.headline(len(runs), runs.count(True), runs.count(False))
    canvas.flow([(f"{report.model.source}:", "bold"), *split(headline)])
    canvas.blank()
    _write_table(canvas, targets)
    canvas.flow(split(words.SHARE_MEANS, "dim"), 2)
    _write_breaks(canvas, targets)
    write_gap_count(canvas, report)


_COUNTED = (Verdict.FALLBACK, Verdict.UNSUPPORTED, Verdict.UNKNOWN)


def _write_breaks(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What breaks where on which targets, then what falling back costs."""
    told: dict[tuple[Atom, ...], list[TargetReport]] = {}
    for target in targets:
        told.setdefault(tuple(breaks(target)), []).append(target)
    for target in targets:
        if target.summary.operators.get(Verdict.FALLBACK, 0):
            cost = tuple(split(fallback_cost(target.summary)))
            told.setdefault(cost, []).append(target)
    told.pop((), None)
    if told:
        canvas.blank()
    for atoms, whom in told.items():
        canvas.flow([*of_targets(whom, targets), *atoms], 2)


def _write_table(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """One row a target; on a page too narrow for it, without what is nought for all."""
    table = _rows(canvas, targets, _COUNTED)
    if not canvas.has_room(table, 2):
        counts = [target.summary.operators for target in targets]
        some = [verdict for verdict in _COUNTED if any(count.get(verdict) for count in counts)]
        table = _rows(canvas, targets, some)
    canvas.table(table, 2, left=range(3))


def _rows(
    canvas: Canvas, targets: Sequence[TargetReport], counted: Sequence[Verdict]
) -> list[list[Atom]]:
    names = ("", "target", "runs", "share", *(verdict.value for verdict in counted))
    header = [(name, "dim") for name in names]
    return [header, *(_row(canvas, target, counted) for target in targets)]


def _row(canvas: Canvas, target: TargetReport, counted: Sequence[Verdict]) -> list[Atom]:
    summary = target.summary
    sign = mark(summary.runs, canvas.marks)
    rate = canvas.marks.dash if summary.support_rate is None else percent(summary.support_rate)
    counts = ((verdict, summary.operators.get(verdict, 0)) for verdict in counted)
    return [
        sign,
        (target.target, "bold"),
        (words.RUNS_CELL[summary.runs], sign[1]),
        (rate, ""),
        *((f"{count:,}", STYLES[verdict] if count else "dim") for verdict, count in counts),
    ]
