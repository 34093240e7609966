"""The first lines: what ran on what, whether it got through, and if not, where it ended."""

from collections.abc import Sequence

from opcheck.commands.emulate.terminal.calls import Calls, as_place, operators
from opcheck.model.emulation import Emulation
from opcheck.views.terminal import words
from opcheck.views.terminal.breaks import brief, first_gap
from opcheck.views.terminal.canvas import Atom, Canvas, phrase, split
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.places import merged, where
from opcheck.views.terminal.units import size


def write_head(canvas: Canvas, found: Emulation) -> None:
    """The outcome, what is behind it, how it was run, and what the host's part costs."""
    write_outcome(canvas, found)
    if not found.finished:
        _write_error(canvas, found)
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


def _write_error(canvas: Canvas, found: Emulation) -> None:
    """The user's frame and the error, as Python shows them."""
    site = found.error_site
    if site is not None and site.file:
        module = f", {words.IN} {site.module}" if site.module else ""
        canvas.flow(split(f'File "{site.file}", line {site.line}{module}', "bold"), 2)
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
    parts = (run, words.COMPUTED[found.values], f"torch {found.torch_version}")
    canvas.blank()
    canvas.flow(split(f" {canvas.marks.dot} ".join(parts), "dim"), 2)
    if found.host_calls:
        moved = size(sum(calls.nbytes for calls in found.host_calls))
        canvas.flow(split(words.fallback_cost(found.islands, moved, run)), 2)
