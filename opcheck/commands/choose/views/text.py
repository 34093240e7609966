"""The page: what the model needs, the targets in their order, and what is not known of them."""

from collections.abc import Sequence

from rich.cells import cell_len

from opcheck.commands.choose.terminal import words
from opcheck.commands.choose.terminal.unknown import write_unknown
from opcheck.commands.choose.values import Choice, Choosing, Fit, Way
from opcheck.costs.roofline import MemoryNeed
from opcheck.lang.speech import tell
from opcheck.model.text import duration, plural, size
from opcheck.views.names import short_names
from opcheck.views.page import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, phrase, split

STYLES = {Way.ITSELF: "green", Way.HOST: "yellow", Way.REPAIRED: "yellow", Way.NOT: "red"}
_LEFT = range(1, len(words.COLUMNS))


def render(found: Choosing, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    _write_head(canvas, found)
    if found.choices:
        canvas.blank()
        _write_places(canvas, found.choices)
        write_unknown(canvas, found)
    _write_footer(canvas, found)
    return canvas.text()


def _write_head(canvas: Canvas, found: Choosing) -> None:
    takes = [choice.takes for choice in found.choices]
    said = words.headline(takes.count(True), takes.count(None), len(takes))
    canvas.flow([(f"{found.model.source}:", "bold"), *split(said)])
    if found.choices:
        need = max((choice.need for choice in found.choices), key=lambda need: need.total)
        canvas.flow([*split(words.need(need.total)), *_commas(_parts(need))], 2)
    if found.dtypes:
        amounts = [split(words.operations(dtype, count)) for dtype, count in found.dtypes.items()]
        canvas.flow(_commas(amounts), 2)
    if found.trace.gaps:
        canvas.flow(split(common.gaps(len(found.trace.gaps)).replace(" (below)", ""), "magenta"), 2)


def _parts(need: MemoryNeed) -> list[list[Atom]]:
    sizes = {
        words.WEIGHTS: need.weights + need.buffers,
        words.INPUTS: need.inputs,
        words.ACTIVATIONS: need.activations,
        words.GRADIENTS: need.gradients,
        words.STATES: need.states,
    }
    return [phrase(part, size=split(size(count))) for part, count in sizes.items() if count]


def _commas(phrases: Sequence[Sequence[Atom]]) -> list[Atom]:
    """Several phrases with commas between them."""
    found: list[Atom] = []
    for i, atoms in enumerate(phrases, 1):
        *most, (last, style) = atoms
        found += [*most, (last if i == len(phrases) else f"{last},", style)]
    return found


def _write_places(canvas: Canvas, choices: Sequence[Choice]) -> None:
    """A row for each target, and beside or below it the reason for its place."""
    names = short_names(choices)
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in words.COLUMNS]
    rows = [header, *(_row(canvas, choice, names[choice.target]) for choice in choices)]
    if not canvas.has_room(rows, 0) or not any(len(choice.offers) > 1 for choice in choices):
        rows = [row[:-1] for row in rows]
    widths = [max(cell_len(row[i][0]) for row in rows) for i in range(len(rows[0]))]
    canvas.table([_padded(rows[0], widths)], 0, left=_LEFT)
    before = ""
    for choice, row in zip(choices, rows[1:], strict=True):
        canvas.table([_padded(row, widths)], 0, left=_LEFT)
        if choice.why != before:
            canvas.flow(split(choice.why, "dim"), widths[0] + 4)
        before = choice.why


def _padded(row: Sequence[Atom], widths: Sequence[int]) -> list[Atom]:
    """Cells as wide as those above and below them."""
    (place, style), *rest = row
    found = [(f"{' ' * (widths[0] - cell_len(place))}{place}", style)]
    for (text, look), width in zip(rest, widths[1:], strict=True):
        found.append((f"{text}{' ' * (width - cell_len(text))}", look))
    return found


def _row(canvas: Canvas, choice: Choice, name: str) -> list[Atom]:
    best, dash = choice.best, canvas.marks.dash
    time = dash if choice.seconds is None else duration(choice.seconds)
    if choice.floor:
        time = f"{words.AT_LEAST[canvas.page.ascii]}{duration(choice.floor)}"
    return [
        (str(choice.place), "bold"),
        (name, "bold"),
        (tell(words.WAYS[choice.way]), STYLES.get(choice.way, "magenta")),
        (tell(words.fit(choice)), "red" if choice.fit is Fit.NONE else ""),
        (time, "" if best else "dim"),
        (tell(words.LIMITS.get(best.bound.limit, "")) if best else "", "dim"),
        (best.name if best and len(choice.offers) > 1 else "", "dim"),
    ]


def _write_footer(canvas: Canvas, found: Choosing) -> None:
    dot, trace = canvas.marks.dot, found.trace
    canvas.blank()
    canvas.flow(split(words.NOTE, "dim"))
    if any(len(choice.offers) > 1 for choice in found.choices):
        canvas.flow(split(words.PRODUCTS, "dim"))
    if any(choice.floor for choice in found.choices):
        canvas.flow(split(words.floor(canvas.page.ascii), "dim"))
    canvas.flow(split(words.ROOM, "dim"))
    said = f"{trace.mode} {dot} {plural(trace.calls, 'call')} {dot} torch {found.torch_version}"
    canvas.blank()
    canvas.flow(split(said, "dim"))
    canvas.flow(split(f"opcheck {found.opcheck_version}", "dim"))
