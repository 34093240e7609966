"""What follows the findings: the good news, gaps, advisories, kernels, and what it all rests on."""

import re
from collections import Counter
from collections.abc import Sequence

from opcheck.model.report import Reason, Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.report.terminal import words
from opcheck.report.terminal.canvas import Atom, Canvas, listed, split
from opcheck.report.terminal.compare import short_names
from opcheck.report.terminal.units import plural

SHOWN = 10
"""How many gaps and modules are named unless all are asked for."""


def write_fine(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """One line for all that runs on the device; comparisons have said it in their table."""
    counts = targets[0].summary.operators
    native, decomposed = counts.get(Verdict.NATIVE, 0), counts.get(Verdict.DECOMPOSED, 0)
    if len(targets) == 1 and native + decomposed and not canvas.page.verbose:
        canvas.blank()
        canvas.flow([(canvas.marks.good, "green"), *split(words.fine(native, decomposed))])


def write_unseen(canvas: Canvas, report: Report) -> None:
    """Gaps of the trace, and modules that it never entered."""
    trace = report.trace
    if trace.gaps:
        _heading(canvas, words.GAPS, plural(len(trace.gaps), "gap"), "magenta")
        shown = trace.gaps if canvas.page.verbose else trace.gaps[:SHOWN]
        for gap in shown:
            canvas.flow([(f"{gap.where or words.ROOT}:", "bold"), *split(gap.reason)], 2)
        _left_out(canvas, len(trace.gaps) - len(shown), "gap")
    if trace.modules_not_called:
        modules = trace.modules_not_called
        _heading(canvas, words.NOT_CALLED, plural(len(modules), "module"), "")
        names = modules if canvas.page.verbose else _patterns(modules)
        shown_names = names if canvas.page.verbose else names[:SHOWN]
        canvas.flow(listed(shown_names), 2)
        _left_out(canvas, len(names) - len(shown_names), "name")


def write_advisories(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What holds for a whole target, said once for all that share it."""
    names = short_names(targets)
    said: dict[Reason, list[str]] = {}
    for target in targets:
        for advisory in target.advisories:
            said.setdefault(advisory, []).append(names[target.target])
    if said:
        _heading(canvas, words.ADVISORIES, "", "yellow")
    for advisory, whom in said.items():
        common = len(whom) == len(targets)
        atoms = [] if common else listed(whom, "bold", end=":")
        canvas.flow([*atoms, *split(advisory.text)], 2)


def write_kernels(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What each target itself is asked to run, where that is known."""
    known = [target for target in targets if target.kernels is not None]
    if known:
        _heading(canvas, words.KERNELS, "", "")
    names = short_names(targets)
    for target in known:
        kernels = target.kernels or ()
        calls = plural(sum(kernel.count for kernel in kernels), "call")
        atoms: list[Atom] = [(f"{names[target.target]}:", "bold")] if len(targets) > 1 else []
        atoms += split(f"{plural(len(kernels), 'overload')}, {calls}")
        missing = sorted({k.op for k in kernels if not k.verdict.on_device})
        if missing:
            atoms += [(f"{canvas.marks.dot} {words.MISSING}:", "red"), *listed(missing)]
        canvas.flow(atoms, 2)
        if canvas.page.verbose and kernels:
            canvas.table([_kernel_row(k.op, k.verdict, k.count) for k in kernels], indent=4)


def write_footer(canvas: Canvas, report: Report) -> None:
    """Which model, trace, database and versions the answer rests on."""
    trace, dot = report.trace, canvas.marks.dot
    canvas.blank()
    for note in trace.notes:
        canvas.flow(split(note, "dim"))
    recorded = (
        f"{report.model.kind} {dot} {trace.mode} {dot} {plural(trace.calls, 'call')} "
        f"{dot} traced as {trace.device_type} with torch {report.torch_version}"
    )
    canvas.flow(split(recorded, "dim"))
    dates = {target.database_date for target in report.targets if target.database_date}
    database = f" {dot} database of {max(dates)}" if dates else ""
    canvas.flow(split(f"opcheck {report.opcheck_version}{database}", "dim"))


def _patterns(modules: Sequence[str]) -> Sequence[str]:
    """Modules with layer numbers as ``*``: ``heads.*.conv (14)``."""
    counts = Counter(re.sub(r"(?<![^.])\d+(?![^.])", "*", module) for module in modules)
    return [name if n == 1 else f"{name} ({n:,})" for name, n in counts.items()]


def _heading(canvas: Canvas, heading: tuple[str, str], count: str, style: str) -> None:
    title, meaning = heading
    text = f"{count}, {meaning}" if count else meaning
    canvas.blank()
    canvas.flow([(title, f"bold {style}"), (canvas.marks.dot, "dim"), *split(text, "dim")])


def _left_out(canvas: Canvas, count: int, noun: str) -> None:
    if count:
        canvas.flow(split(words.more(count, noun), "dim"), 2)


def _kernel_row(op: str, verdict: Verdict, count: int) -> list[Atom]:
    return [(op, ""), (verdict.value, ""), (f"{count:,}", "")]
