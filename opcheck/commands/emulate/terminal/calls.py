"""Calls that the device refuses, leaves to the host, or runs otherwise; alike ones said once."""

from collections.abc import Iterable, Sequence

from opcheck.model.emulation import Caution, HostCalls, Refusal, Site
from opcheck.model.report import Place
from opcheck.model.trace import Phase
from opcheck.views.terminal import words
from opcheck.views.terminal.alike import sentence, shared
from opcheck.views.terminal.canvas import Atom, Canvas, split
from opcheck.views.terminal.findings import BLOCKS, after_dot, write_places, write_rows
from opcheck.views.terminal.groups import Row
from opcheck.views.terminal.rest import write_heading
from opcheck.views.terminal.top import write_left_out
from opcheck.views.terminal.units import plural, size

Calls = Refusal | HostCalls | Caution
"""Calls of one overload of which one thing is said."""
LINES = 4
"""Lines of an error that are shown unless all are asked for."""


def as_place(site: Site) -> Place:
    """A site as reports have places; how many calls come from it is not known."""
    return Place(site.module, site.file, site.line, inputs=(), decomposed_into=(), count=1)


def write_calls(
    canvas: Canvas,
    heading: tuple[str, str],
    style: str,
    some: Sequence[Calls],
    *,
    said: str = "",
    most: int | None = None,
) -> int:
    """A heading and a block for each, or for all of which the same is said; or nothing.

    Args:
        canvas: what to write on.
        heading: the title, and what it means.
        style: its colour.
        some: the calls.
        said: an error that the page has shown already.
        most: how many blocks may be shown; None: what there is room for.

    Returns:
        how many blocks were shown.
    """
    if not some:
        return 0
    write_heading(canvas, heading, plural(operators(some), "operator"), style)
    blocks = _blocks(some, alone=canvas.page.full or most is not None)
    few = blocks if canvas.page.full else blocks[:BLOCKS]
    shown = few if most is None else blocks[:most]
    for block in shown:
        canvas.blank()
        _write_block(canvas, block, style, said)
    left_out = operators([item for block in blocks[len(shown) :] for item in block])
    write_left_out(canvas, left_out, "operator")
    return len(shown)


def operators(some: Iterable[Calls]) -> int:
    """How many there are, whatever else distinguishes the calls."""
    return len({item.op for item in some})


def _blocks(some: Sequence[Calls], *, alone: bool) -> list[list[Calls]]:
    """Calls of which the same is said together, the most called first."""
    alike: dict[object, list[Calls]] = {}
    for i, item in enumerate(some):
        told = (item.reason.code, sentence(item.reason.text, item.op).of_any)
        alike.setdefault(i if alone else told, []).append(item)
    blocks = [sorted(block, key=lambda item: -item.count) for block in alike.values()]
    return sorted(blocks, key=lambda block: -_count(block))


def _count(block: Iterable[Calls]) -> int:
    return sum(item.count for item in block)


def _write_block(canvas: Canvas, block: Sequence[Calls], style: str, said: str) -> None:
    first, one = block[0], len(block) == 1
    head: list[Atom] = [(first.op if one else first.reason.code, f"bold {style}")]
    if not one:
        head += after_dot(canvas, plural(operators(block), "operator"))
    head += after_dot(canvas, plural(_count(block), "call"))
    if one and first.phase is not Phase.FORWARD:
        head += after_dot(canvas, first.phase.value)
    moved = sum(item.nbytes for item in block if isinstance(item, HostCalls))
    if moved:
        head += after_dot(canvas, words.moved(size(moved)))
    canvas.flow(head, 2)
    if one:
        write_places(canvas, tuple(map(as_place, first.sites)), counted=False)
    reasons = [sentence(item.reason.text, item.op) for item in block]
    canvas.field(words.WHY, split(shared(reasons)), 4)
    if isinstance(first, Refusal) and first.error != said and not _only_the_reason(first):
        _write_error(canvas, first.error)
    if not one:
        write_rows(canvas, _rows(block), style)


def _only_the_reason(refusal: Refusal) -> bool:
    """Whether the error says no more than why: the vendor's own words are not known."""
    return refusal.error.endswith(f": {refusal.reason.text}")


def _write_error(canvas: Canvas, error: str) -> None:
    """What the device raises, in its own lines."""
    lines = error.splitlines()
    shown = lines if canvas.page.full else lines[:LINES]
    for i, line in enumerate(shown):
        canvas.field("" if i else words.ERROR, split(line), 4)
    if len(lines) > len(shown):
        canvas.field("", split(words.more(len(lines) - len(shown), "line"), "dim"), 4)


def _rows(block: Iterable[Calls]) -> list[Row]:
    """A row for each operator and phase, the most called first."""
    found: dict[tuple[str, Phase], list[Calls]] = {}
    for item in block:
        found.setdefault((item.op, item.phase), []).append(item)
    rows = [_row(op, phase, some) for (op, phase), some in found.items()]
    return sorted(rows, key=lambda row: -row.count)


def _row(op: str, phase: Phase, some: Sequence[Calls]) -> Row:
    inner = {sentence(item.reason.text, op).runs_as for item in some}
    places = tuple(as_place(site) for item in some for site in item.sites)
    return Row(op, tuple(sorted(inner - {""})), phase, _count(some), places, evidence=())
