"""Parts of a page about a run on an emulated device: the outcome, what ended it, the calls."""

from collections.abc import Iterable, Sequence

from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.model.emulation import Caution, Emulation, HostCalls, Refusal, Site
from opcheck.model.report import Place
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Atom, Canvas, phrase, split
from opcheck.views.terminal.differences import write_agreement, write_differences
from opcheck.views.terminal.findings import (
    BLOCKS,
    after_dot,
    merged,
    where,
    write_left_out,
    write_places,
    write_rows,
)
from opcheck.views.terminal.groups import Row, sentence, shared
from opcheck.views.terminal.head import brief, first_gap, mark
from opcheck.views.terminal.notation import plural, size
from opcheck.views.terminal.sections import write_gaps, write_heading, write_kernel_counts

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


def write_head(canvas: Canvas, found: Emulation) -> None:
    """The outcome, what is behind it, how it was run, and what the host's part costs."""
    write_outcome(canvas, found)
    if not found.finished:
        _write_what_ended_it(canvas, found)
    else:
        first = found.refusals or found.unknown
        if found.gaps and not first:
            canvas.flow(first_gap(found.gaps, canvas.marks), 2)
        _write_first(canvas, first or found.host_calls)
    _write_how(canvas, found)


def write_outcome(canvas: Canvas, found: Emulation) -> None:
    """Whether the device takes the model, in one line."""
    sign = mark(found.runs, canvas.marks)
    numbers = (operators(found.refusals), operators(found.unknown), operators(found.host_calls))
    ended = "" if found.finished else words.STOPPED if _stopped(found) else words.ENDED
    said = words.outcome(found.runs, ended, *numbers)
    outcome = split(said, sign[1])
    model, target = (found.model.source, "bold"), (found.target, "bold")
    canvas.flow([sign, *phrase(words.OUTCOME, said=outcome, model=[model], target=[target])])


def _stopped(found: Emulation) -> bool:
    """Whether a run that ended early did so with what the device raised."""
    return any(item.error == found.error for item in found.refusals)


def _write_what_ended_it(canvas: Canvas, found: Emulation) -> None:
    """The user's frame and the error, as Python shows them."""
    site = found.error_site
    if site is not None and site.file:
        place = 'File "{file}", line {count}'
        inside = 'File "{file}", line {count}, in {module}'
        frame = Sentence(
            inside if site.module else place, file=site.file, count=site.line, module=site.module
        )
        canvas.flow(split(frame, "bold"), 2)
        if found.error_source:
            canvas.flow([(found.error_source, "")], 4)
    elif site is not None and site.module:
        canvas.flow([*split(words.IN), (site.module, "bold")], 2)
    for line in found.error.splitlines():
        canvas.flow(split(line, "red"), 2)


def _write_first(canvas: Canvas, some: Sequence[Calls]) -> None:
    """The most called of what is refused, or else of what runs on the host; or nothing."""
    if not some:
        return
    item, *others = sorted(some, key=lambda item: -item.count)
    alone = not others or item.count > others[0].count
    lead = split(words.MOST_CALLED if alone else words.FIRST) if others else []
    place: list[Atom] = []
    if item.sites:
        first = merged(map(as_place, item.sites))[0][0]
        place = [*split(words.AT if first.file else words.IN), *where(first)]
    canvas.flow([*lead, (item.op, "bold"), *place, *brief(item.reason.text, canvas.marks)], 2)


def _write_how(canvas: Canvas, found: Emulation) -> None:
    run = words.RUN.get(found.mode, found.mode)
    write_how(canvas, found, (run,), run)


def write_how(canvas: Canvas, found: Emulation, ran: Sequence[str], run: str) -> None:
    """What was run and how, and what a ``run`` costs that goes to the host in between."""
    parts = (*ran, words.COMPUTED[found.values], verbatim(f"torch {found.torch_version}"))
    canvas.blank()
    canvas.flow(split(chained(parts, f" {canvas.marks.dot} "), "dim"), 2)
    if found.host_calls:
        moved = size(sum(calls.nbytes for calls in found.host_calls))
        canvas.flow(split(words.fallback_cost(found.islands, moved, run)), 2)


def write_sections(canvas: Canvas, found: Emulation) -> None:
    """What is refused, what runs elsewhere or otherwise, what was not seen, and the kernels."""
    left = canvas.page.top
    for heading, style, some in (
        (words.REFUSED, "red", found.refusals),
        (words.ON_HOST, "yellow", found.host_calls),
        (words.heading(Verdict.UNKNOWN), "magenta", found.unknown),
        (words.CAUTIONS, "yellow", tuple(i for i in found.cautions if i not in found.unknown)),
    ):
        shown = write_calls(canvas, heading, style, some, said=found.error, most=left)
        left = None if left is None else left - shown
    if found.gaps:
        write_gaps(canvas, found.gaps)
    if found.differences is not None:
        write_differences(canvas, found.differences)
    if found.agreement is not None:
        write_agreement(canvas, found.agreement)
    write_heading(canvas, words.KERNELS, "", "")
    if found.kernels:
        write_kernel_counts(canvas, found.kernels, others=words.ELSEWHERE)
    else:
        canvas.flow(split(words.NOTHING_ASKED), 2)


def write_footer(canvas: Canvas, found: Emulation) -> None:
    """What the answer rests on."""
    dot = canvas.marks.dot
    canvas.blank()
    for note in found.notes:
        canvas.flow(split(note, "dim"))
    said = [found.model.kind] if found.model.kind else []
    said.append(verbatim(f"opcheck {found.opcheck_version}"))
    if found.database_digest:
        said.append(Sentence("database {digest}", digest=found.database_digest))
    canvas.flow(split(chained(said, f" {dot} "), "dim"))
