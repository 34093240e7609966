"""The page: what it costs at least, where the time goes, and what to change."""

from collections.abc import Sequence

from opcheck.commands.tune.values import Advice, ChipFigure, Gain, OperatorCost, TunedTarget, Tuning
from opcheck.costs.roofline import Limit, MemoryNeed
from opcheck.lang.sentence import NOTHING as NO_WORDS
from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.lang.speech import tell
from opcheck.model.text import duration, number, operations, percent, plural, rate, size
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.evidence import FEW, cited
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import traced

WORK, BOUND, MEMORY, CHIP = "work", "bound", "memory", "chip"
WHERE, WHY, GAIN, DO, FROM = "where", "why", "gain", "do", "from"
OPERATORS_TITLE = ("Where the time goes", "the least time of each operator's calls")
BY_BYTES = ("What it runs", "nothing bounds its time")
ADVICE = ("Advice", "each by itself, what brings most first")
UNKNOWN = ("Left open", "what is not known, or not counted")
NOTHING = "nothing in the trace gives reason for advice"
NO_FIGURES = "what needs no figure of the chip's gives no reason for advice"
NEEDED = "needed"
NOT_KNOWN = "not known"
NEVER = "times are bounds by the chip's figures, never forecasts"
ROOM = "{total} of {has}"
LIMITS = {
    Limit.COMPUTE: "compute",
    Limit.BANDWIDTH: "bandwidth",
    Limit.HOST: "host",
    Limit.UNKNOWN: "?",
}
HEADS = {
    True: "{model} on {target}",
    False: "{model} on {target}, where it does not run as it is",
    None: "{model} on {target}, where it is not known to run",
}


def bound(target: TunedTarget) -> Sentence:
    """The least time of the run, and what most of it waits for."""
    seconds = target.bound.seconds
    if seconds is None:
        return Sentence("no figure of the chip tells how long it takes at least")
    most = "{text} at least, most of which is moving bytes"
    if target.bound.limit is Limit.COMPUTE:
        most = "{text} at least, most of which is computing"
    least = Sentence(most, text=duration(seconds))
    return least if target.bound.whole else chained([least, "some of it is not known"], "; ")


def product(target: TunedTarget) -> Sentence:
    """Whose figures are taken."""
    if not target.product:
        return Sentence("{text}: no figures are known", text=target.title)
    if not target.others:
        return verbatim(target.product)
    return Sentence(
        "{text}, one of {count} products; --product names another",
        text=target.product,
        count=len(target.others) + 1,
    )


def figure_sentence(one: ChipFigure) -> Sentence:
    """One figure of the chip's."""
    value = one.value or 0.0
    match one.name:
        case "memory":
            return verbatim(size(value))
        case "bandwidth":
            return verbatim(f"{size(value)}/s")
        case _:
            unit = "OP" if one.name.startswith("int") else "FLOP"
            return Sentence("{text} {name}", text=rate(value, unit), name=one.name)


def elements(count: int) -> Sentence:
    """What is computed beside products."""
    return Sentence("{text} element operations", text=number(count))


def moved(nbytes: int) -> Sentence:
    """What is read and written."""
    return Sentence("{text} read and written", text=size(nbytes))


def memory_sentence(need: MemoryNeed) -> list[tuple[str, str]]:
    """What the memory goes to, and how much of it."""
    parts = [
        ("weights", need.weights), ("buffers", need.buffers), ("inputs", need.inputs),
        ("activations", need.activations), ("gradients", need.gradients),
        ("optimizer states", need.states),
    ]  # fmt: skip
    return [(name, size(nbytes)) for name, nbytes in parts if nbytes]


def capacity(target: TunedTarget) -> str:
    """How much memory the chip has; "" where that is not known."""
    has = next((f.value for f in target.figures if f.name == "memory"), None)
    return "" if has is None else size(has)


def largest(target: TunedTarget) -> Sentence:
    """The largest batch that fits; no words where it is not known, or not even one fits."""
    most, batch = target.largest_batch, target.memory.batch
    if not most or batch is None:
        return NO_WORDS
    return Sentence(
        "a batch of {count} may fit; the run has {count_now}",
        count=f"{most:,}",
        count_now=f"{batch:,}",
    )


def gain(one: Gain) -> str:
    """How much less, and how that was computed."""
    return one.text or NOT_KNOWN


def less(share: float) -> Sentence:
    """How much less time it takes at most."""
    told = percent(share)
    little = "<0.1% less time"
    return Sentence(little if told in little else "{percent} less time", percent=told)


def more_operators(count: int) -> Sentence:
    """What is left out."""
    more = (
        "and {count} operator more (--verbose lists them)"
        if count == 1
        else "and {count} operators more (--verbose lists them)"
    )
    return Sentence(more, count=f"{count:,}")


MOST_OPERATORS = 5
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
    head = phrase(HEADS[target.runs], model=[(model, "bold")], target=[(target.target, "bold")])
    canvas.flow([mark(target.runs, canvas.marks), *head])
    canvas.blank()
    _write_figures(canvas, target)
    _write_operators(canvas, target.operators)
    if not target.advice:
        canvas.blank()
        sign = (canvas.marks.good, "green") if target.product else (canvas.marks.open, "magenta")
        canvas.flow([sign, *split(NOTHING if target.product else NO_FIGURES)])
        return _write_unknown(canvas, target)
    write_heading(canvas, ADVICE, "", "")
    for position, one in enumerate(target.advice, 1):
        _write_advice(canvas, position, one)
    return _write_unknown(canvas, target)


def _write_figures(canvas: Canvas, target: TunedTarget) -> None:
    dot = (canvas.marks.dot, "dim")
    figures = [figure_sentence(figure) for figure in target.figures if figure.value is not None]
    canvas.field(CHIP, _between(dot, [product(target), *figures]), 2)
    for figure in target.figures if canvas.page.verbose else ():
        for fact in figure.evidence[:1]:
            canvas.field("", [(f"{figure.name}:", "dim"), *cited(fact)], 2)
    flops = verbatim(operations(target.flops))
    work = [flops, elements(target.elements), moved(target.moved)]
    canvas.field(WORK, _between(dot, work), 2)
    canvas.field(BOUND, split(bound(target), "bold"), 2)
    parts = memory_sentence(target.memory)
    total, has = (size(target.memory.total), ""), capacity(target)
    memory = phrase(ROOM, total=[total], has=[(has, "")]) if has else [total]
    memory.append(dot)
    for i, (name, nbytes) in enumerate(parts, 1):
        memory += [*split(name), (nbytes + "," * (i < len(parts)), "")]
    if largest(target):
        memory += [dot, *split(largest(target))]
    canvas.field(MEMORY, memory, 2)


def _between(dot: Atom, texts: Sequence[str]) -> list[Atom]:
    found: list[Atom] = []
    for text in texts:
        found += [dot, *split(text)] if found else split(text)
    return found


def _write_operators(canvas: Canvas, operators: Sequence[OperatorCost]) -> None:
    timed = any(one.share for one in operators)
    shown = [one for one in operators if one.share or one.flops or one.moved]
    shown = shown if canvas.page.verbose else shown[:MOST_OPERATORS]
    if not shown:
        return
    write_heading(canvas, OPERATORS_TITLE if timed else BY_BYTES, "", "")
    _write_rows(canvas, [_row(one) for one in shown])
    left = len([one for one in operators if one.moved or one.flops]) - len(shown)
    if left > 0:
        canvas.flow(split(more_operators(left), "dim"), 2)


def _write_rows(canvas: Canvas, rows: Sequence[Sequence[Atom]]) -> None:
    """A table with as many columns as there is room for; long names stand above their figures."""
    for last in (None, -1, -2):
        narrowed = [row[:last] for row in rows]
        if canvas.has_room(narrowed, 2):
            canvas.table(narrowed, 2, left=(0, 6, 7))
            return
    for name, *figures in rows:
        canvas.flow([name], 2)
        told = [verbatim(text) for text, _ in figures[:-1] if text]
        canvas.flow(_between((canvas.marks.dot, "dim"), told), 6)


def _row(one: OperatorCost) -> list[Atom]:
    flops = "?" if one.flops is None else operations(one.flops) if one.flops else ""
    seconds = one.bound.seconds
    time = "?" if seconds is None else duration(seconds)
    share = "" if one.share is None else percent(one.share)
    limit = tell(LIMITS[one.bound.limit])
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
        sign = (tell(NEEDED), "bold red")
    elif share is not None:
        sign = (tell(less(share)), "bold green")
    else:
        sign = (tell(NOT_KNOWN), "dim")
    dot = (canvas.marks.dot, "dim")
    lead = [(f"{number:>3} ", "dim")]
    canvas.flow([*split(one.title, "bold"), dot, sign, dot, (one.code, "dim")], 4, lead)
    if one.where:
        canvas.field(WHERE, listed(map(tell, one.where), PLACE), 4)
    canvas.field(WHY, split(one.reason), 4)
    canvas.field(GAIN, split(gain(one.gain)), 4)
    ways = [*map(split, one.actions), *([(line, "green")] for line in one.lines)]
    for i, way in enumerate(ways):
        canvas.field("" if i else DO, way, 4)
    shown = one.evidence if canvas.page.full else one.evidence[:FEW]
    for i, fact in enumerate(shown):
        canvas.field("" if i else FROM, cited(fact), 4)


def _write_footer(canvas: Canvas, found: Tuning) -> None:
    """What was chosen for the user, and what the figures rest on."""
    trace, dot = found.trace, canvas.marks.dot
    canvas.blank()
    for note in trace.notes:
        canvas.flow(split(note, "dim"))
    how = traced(trace.device_type, found.torch_version)
    recorded = [found.model.kind, trace.mode, plural(trace.calls, "call"), how]
    canvas.flow(split(chained(recorded, f" {dot} "), "dim"))
    canvas.flow([*split(verbatim(f"opcheck {found.opcheck_version}"), "dim"), (dot, "dim"),
                 *split(NEVER, "dim")])  # fmt: skip


def _write_unknown(canvas: Canvas, target: TunedTarget) -> None:
    if not target.unknown:
        return
    write_heading(canvas, UNKNOWN, "", "magenta")
    for text in target.unknown:
        canvas.flow(split(text), 4, [("  ", ""), (canvas.marks.dot, "dim"), (" ", "")])
