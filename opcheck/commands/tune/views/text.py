"""The page: what it costs at least, where the time goes, and what to change."""

from collections.abc import Sequence

from opcheck.commands.tune.terminal import words
from opcheck.commands.tune.values import Advice, OperatorCost, TunedTarget, Tuning
from opcheck.lang.speech import tell
from opcheck.model.text import duration, operations, percent, plural, size
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.evidence import FEW, cited
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.sections import write_heading

OPERATORS = 5
"""How many operators are shown unless all are asked for."""


def render(found: Tuning, page: Page = PLAIN) -> str:
    """The whole answer as text, one target after the other."""
    canvas = Canvas(page)
    for i, target in enumerate(found.targets):
        if i:
            canvas.blank()
        _write_target(canvas, found.model.source, target)
    _write_footer(canvas, found)
    return canvas.text()


def _write_target(canvas: Canvas, model: str, target: TunedTarget) -> None:
    head = phrase(
        words.HEADS[target.runs], model=[(model, "bold")], target=[(target.target, "bold")]
    )
    canvas.flow([mark(target.runs, canvas.marks), *head])
    canvas.blank()
    _write_figures(canvas, target)
    _write_operators(canvas, target.operators)
    if not target.advice:
        canvas.blank()
        sign = (canvas.marks.good, "green") if target.product else (canvas.marks.open, "magenta")
        canvas.flow([sign, *split(words.NOTHING if target.product else words.NO_FIGURES)])
        return _write_unknown(canvas, target)
    write_heading(canvas, words.ADVICE, "", "")
    for number, one in enumerate(target.advice, 1):
        _write_advice(canvas, number, one)
    return _write_unknown(canvas, target)


def _write_figures(canvas: Canvas, target: TunedTarget) -> None:
    dot = (canvas.marks.dot, "dim")
    figures = [words.figure(figure) for figure in target.figures if figure.value is not None]
    canvas.field(words.CHIP, _between(dot, [words.product(target), *figures]), 2)
    for figure in target.figures if canvas.page.verbose else ():
        for fact in figure.evidence[:1]:
            canvas.field("", [(f"{figure.name}:", "dim"), *cited(fact)], 2)
    work = [operations(target.flops), words.elements(target.elements), words.moved(target.moved)]
    canvas.field(words.WORK, _between(dot, work), 2)
    canvas.field(words.BOUND, split(words.bound(target), "bold"), 2)
    parts = words.memory(target.memory)
    total, has = (size(target.memory.total), ""), words.capacity(target)
    memory = phrase(words.ROOM, total=[total], has=[(has, "")]) if has else [total]
    memory.append(dot)
    for i, (name, nbytes) in enumerate(parts, 1):
        memory += [*split(name), (nbytes + "," * (i < len(parts)), "")]
    if words.largest(target):
        memory += [dot, *split(words.largest(target))]
    canvas.field(words.MEMORY, memory, 2)


def _between(dot: Atom, texts: Sequence[str]) -> list[Atom]:
    found: list[Atom] = []
    for text in texts:
        found += [dot, *split(text)] if found else split(text)
    return found


def _write_operators(canvas: Canvas, operators: Sequence[OperatorCost]) -> None:
    timed = any(one.share for one in operators)
    shown = [one for one in operators if one.share or one.flops or one.moved]
    shown = shown if canvas.page.verbose else shown[:OPERATORS]
    if not shown:
        return
    write_heading(canvas, words.OPERATORS if timed else words.BY_BYTES, "", "")
    _write_rows(canvas, [_row(one) for one in shown])
    left = len([one for one in operators if one.moved or one.flops]) - len(shown)
    if left > 0:
        canvas.flow(split(words.more(left, "operator"), "dim"), 2)


def _write_rows(canvas: Canvas, rows: Sequence[Sequence[Atom]]) -> None:
    """A table with as many columns as there is room for; long names stand above their figures."""
    for last in (None, -1, -2):
        narrowed = [row[:last] for row in rows]
        if canvas.has_room(narrowed, 2):
            canvas.table(narrowed, 2, left=(0, 6, 7))
            return
    for name, *figures in rows:
        canvas.flow([name], 2)
        told = [text for text, _ in figures[:-1] if text]
        canvas.flow(_between((canvas.marks.dot, "dim"), told), 6)


def _row(one: OperatorCost) -> list[Atom]:
    flops = "?" if one.flops is None else operations(one.flops) if one.flops else ""
    seconds = one.bound.seconds
    time = "?" if seconds is None else duration(seconds)
    share = "" if one.share is None else percent(one.share)
    limit = tell(words.LIMITS[one.bound.limit])
    return [
        (one.op, ""),
        (f"{one.calls:,}", "dim"),
        (flops, ""),
        (size(one.moved), ""),
        (time, "bold"),
        (share, "bold"),
        (limit, "dim"),
        (one.module, "dim"),
    ]


def _write_advice(canvas: Canvas, number: int, one: Advice) -> None:
    share = one.gain.share
    if one.needed:
        sign = (tell(words.NEEDED), "bold red")
    elif share is not None:
        sign = (tell(words.less(share)), "bold green")
    else:
        sign = (tell(words.NOT_KNOWN), "dim")
    dot = (canvas.marks.dot, "dim")
    lead = [(f"{number:>3} ", "dim")]
    canvas.flow([*split(one.title, "bold"), dot, sign, dot, (one.code, "dim")], 4, lead)
    if one.where:
        canvas.field(words.WHERE, listed(map(tell, one.where), PLACE), 4)
    canvas.field(words.WHY, _clauses(one.reason), 4)
    canvas.field(words.GAIN, _clauses(words.gain(one.gain)), 4)
    ways = [*map(split, one.actions), *([(line, "green")] for line in one.lines)]
    for i, way in enumerate(ways):
        canvas.field("" if i else words.DO, way, 4)
    shown = one.evidence if canvas.page.full else one.evidence[:FEW]
    for i, fact in enumerate(shown):
        canvas.field("" if i else words.FROM, cited(fact), 4)


def _write_footer(canvas: Canvas, found: Tuning) -> None:
    """What was chosen for the user, and what the figures rest on."""
    trace, dot = found.trace, canvas.marks.dot
    canvas.blank()
    for note in trace.notes:
        canvas.flow(split(note, "dim"))
    recorded = (
        f"{found.model.kind} {dot} {trace.mode} {dot} {plural(trace.calls, 'call')} "
        f"{dot} traced as {trace.device_type} with torch {found.torch_version}"
    )
    canvas.flow(split(recorded, "dim"))
    canvas.flow([*split(f"opcheck {found.opcheck_version}", "dim"), (dot, "dim"),
                 *split(words.NEVER, "dim")])  # fmt: skip


def _clauses(text: str) -> list[Atom]:
    """The clauses of a sentence, each told by itself."""
    found: list[Atom] = []
    for clause in text.split(_APART):
        if found:
            found[-1] = (f"{found[-1][0]}{tell(_APART.strip())}", "")
        found += split(clause)
    return found


_APART = "; "


def _write_unknown(canvas: Canvas, target: TunedTarget) -> None:
    if not target.unknown:
        return
    write_heading(canvas, words.UNKNOWN, "", "magenta")
    for text in target.unknown:
        canvas.flow(split(text), 4, [("  ", ""), (canvas.marks.dot, "dim"), (" ", "")])
