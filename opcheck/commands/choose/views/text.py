"""The page: what the model needs, the targets in their order, and what is not known of them."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len

from opcheck.commands.choose.values import Choice, Choosing, Fit, Offer, Way, spelled
from opcheck.costs.roofline import Limit, MemoryNeed
from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.lang.speech import tell
from opcheck.model import text
from opcheck.model.costs import Grade
from opcheck.model.text import duration, plural, size
from opcheck.views.formats import PLAIN, Page
from opcheck.views.targets import short_names
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.sections import write_heading

COLUMNS = ("", "target", "runs", "memory", "at best", "bound by", "product")
WAYS = {
    Way.ITSELF: "yes",
    Way.HOST: "in part",
    Way.REPAIRED: "repaired",
    Way.UNKNOWN: "?",
    Way.NOT: "no",
}
FITS = {Fit.EVERY: "fits", Fit.UNKNOWN: "?", Fit.NONE: "too small"}
LIMITS = {Limit.COMPUTE: "compute", Limit.BANDWIDTH: "bandwidth", Limit.HOST: "host"}
UNKNOWN = ("Not known", "counts for no target")
NO_SOURCE = "no source says the {figure} of"
SOME = "no source tells how fast these products are:"
PRESS = "figures that are the press's word alone stand behind:"
NOTE = (
    "At best: the least time in which a chip can read, write and compute all of it, by the rates "
    "that its vendor says. Nothing was measured, and real runs take longer."
)
AT_LEAST = {False: "≥", True: ">="}
"""By whether a page is of ASCII alone."""
PRODUCTS = (
    "A chip that is sold as several products is ranked by the fastest that the model fits in."
)
ROOM = "What runtimes and kernels take of the memory beside that is not counted."
WEIGHTS, INPUTS = "{size} of weights", "{size} of inputs"
ACTIVATIONS, GRADIENTS = "{size} of activations", "{size} of gradients"
STATES = "{size} of optimizer states"


def headline(takes: int, may: int, of: int) -> Sentence:
    """How many of the targets take the model."""
    template = "{count} of {said} can take it"
    if may:
        template = "{count} of {said} can take it; of {count_may} that is not known"
    targets = text.plural(of, "target")
    return Sentence(template, count=f"{takes:,}", said=targets, count_may=f"{may:,}")


def need_sentence(total: int) -> Sentence:
    """What a run needs."""
    return Sentence("a run needs {text} at once:", text=text.size(total))


def operations(dtype: str, count: int) -> Sentence:
    """How much is computed in a dtype."""
    return Sentence("{text} in {dtype}", text=text.operations(count), dtype=dtype)


def floor_note(ascii_alone: bool) -> Sentence:
    """What the sign before a time means."""
    return Sentence(
        "{sign} stands where a rate is not known: no faster, by those that are.",
        sign=AT_LEAST[ascii_alone],
    )


def fit_cell(choice: Choice) -> Sentence:
    """Whether it fits, in a table."""
    if choice.fit is Fit.SOME:
        fitting = sum(offer.fits is True for offer in choice.offers)
        return Sentence("{count} of {count_all}", count=fitting, count_all=len(choice.offers))
    return Sentence(FITS[choice.fit])


def write_unknown(canvas: Canvas, found: Choosing) -> None:
    """Each thing that is not known once; with --verbose, all of it by target."""
    names = short_names(found.choices)
    if canvas.page.verbose:
        lines = [
            [(f"{names[choice.target]}:", "bold"), *split(text)]
            for choice in found.choices
            for text in choice.unknown
        ]
    else:
        lines = [*_seen(found.choices, names), *_figures(found.choices, names)]
    lines = [*(split(text) for text in found.unknown), *lines]
    if lines:
        write_heading(canvas, UNKNOWN, "", "magenta")
    for line in lines:
        canvas.flow(line, 4, [("  ", ""), (canvas.marks.dot, "dim"), (" ", "")])


def _seen(choices: Sequence[Choice], names: Mapping[str, str]) -> Iterator[list[Atom]]:
    """What is not known of the model on them."""
    whom: dict[str, list[str]] = {}
    for choice in choices:
        for gap in choice.unseen:
            whom.setdefault(gap, []).append(names[choice.target])
    for gap, targets in whom.items():
        yield [*listed(targets, end=":"), *split(gap)]


def _figures(choices: Sequence[Choice], names: Mapping[str, str]) -> Iterator[list[Atom]]:
    """What is not known of the chips."""
    whom: dict[str, list[str]] = {}
    for choice in choices:
        for name in _nowhere(choice):
            whom.setdefault(name, []).append(names[choice.target])
    for figure, targets in sorted(whom.items(), key=lambda item: -len(item[1])):
        said = phrase(NO_SOURCE, figure=split(spelled(figure)))
        yield [*said, *listed(targets)]
    if some := [name for choice in choices if choice.best for name in _slow(choice)]:
        yield [*split(SOME), *listed(some)]
    if press := [names[choice.target] for choice in choices if _by_press(choice)]:
        yield [*split(PRESS), *listed(press)]


def _nowhere(choice: Choice) -> list[str]:
    """Figures that nobody has said of any product."""
    if not choice.offers:
        return ["memory", "bandwidth"]
    first, *others = choice.offers
    return [name for name in first.missing if all(name in offer.missing for offer in others)]


def _slow(choice: Choice) -> list[str]:
    return [offer.name for offer in choice.offers if offer.seconds is None]


def _by_press(choice: Choice) -> bool:
    """Whether what it is ranked by is; where it is ranked by nothing, anything of it."""
    return any(map(_rests_on_press, (choice.best,) if choice.best else choice.offers))


def _rests_on_press(offer: Offer) -> bool:
    figures = (offer.memory, offer.bandwidth, *offer.peaks.values())
    return any(figure is not None and figure.grade is Grade.PRESS for figure in figures)


STYLES = {Way.ITSELF: "green", Way.HOST: "yellow", Way.REPAIRED: "yellow", Way.NOT: "red"}
_LEFT = range(1, len(COLUMNS))


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
    said = headline(takes.count(True), takes.count(None), len(takes))
    canvas.flow([(f"{found.model.source}:", "bold"), *split(said)])
    if found.choices:
        need = max((choice.need for choice in found.choices), key=lambda need: need.total)
        canvas.flow([*split(need_sentence(need.total)), *_commas(_parts(need))], 2)
    if found.dtypes:
        amounts = [split(operations(dtype, count)) for dtype, count in found.dtypes.items()]
        canvas.flow(_commas(amounts), 2)
    if found.trace.gaps:
        canvas.flow(split(common.gaps(len(found.trace.gaps), below=False), "magenta"), 2)


def _parts(need: MemoryNeed) -> list[list[Atom]]:
    sizes = {
        WEIGHTS: need.weights + need.buffers,
        INPUTS: need.inputs,
        ACTIVATIONS: need.activations,
        GRADIENTS: need.gradients,
        STATES: need.states,
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
    header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in COLUMNS]
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
    for (shown, look), width in zip(rest, widths[1:], strict=True):
        found.append((f"{shown}{' ' * (width - cell_len(shown))}", look))
    return found


def _row(canvas: Canvas, choice: Choice, name: str) -> list[Atom]:
    best, dash = choice.best, canvas.marks.dash
    time = dash if choice.seconds is None else duration(choice.seconds)
    if choice.floor:
        time = f"{AT_LEAST[canvas.page.ascii]}{duration(choice.floor)}"
    return [
        (str(choice.place), "bold"),
        (name, "bold"),
        (tell(WAYS[choice.way]), STYLES.get(choice.way, "magenta")),
        (tell(fit_cell(choice)), "red" if choice.fit is Fit.NONE else ""),
        (time, "" if best else "dim"),
        (tell(LIMITS.get(best.bound.limit, "")) if best else "", "dim"),
        (best.name if best and len(choice.offers) > 1 else "", "dim"),
    ]


def _write_footer(canvas: Canvas, found: Choosing) -> None:
    dot, trace = canvas.marks.dot, found.trace
    canvas.blank()
    canvas.flow(split(NOTE, "dim"))
    if any(len(choice.offers) > 1 for choice in found.choices):
        canvas.flow(split(PRODUCTS, "dim"))
    if any(choice.floor for choice in found.choices):
        canvas.flow(split(floor_note(canvas.page.ascii), "dim"))
    canvas.flow(split(ROOM, "dim"))
    torch = verbatim(f"torch {found.torch_version}")
    said = chained([trace.mode, plural(trace.calls, "call"), torch], f" {dot} ")
    canvas.blank()
    canvas.flow(split(said, "dim"))
    canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))
