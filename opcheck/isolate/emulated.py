"""An emulated run whose process ended before it had answered, read from the journal that it left.

Nothing in it is taken on trust: the user's code ran in the process that wrote it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.errors import OpcheckError
from opcheck.isolate.recovered import MOST_BYTES
from opcheck.model.codec import from_json
from opcheck.model.emulation import Emulation, Event, PartialEmulationError, Site


def left_off(error: OpcheckError, place: str, path: Path) -> OpcheckError:
    """The error with what the device was asked for until then, or as it is where it was nothing.

    Args:
        error: how the process ended.
        place: ``file:line`` where it stood in the user's code; "" where that is not known.
        path: the journal.
    """
    found = read_events(path)
    if found is None:
        return error
    begun, events = found
    from opcheck.emulate.tallies import Tallies

    tallies, last = Tallies(), None
    for event in events:
        tallies.add(event)
        last = event.site or last
    if not (tallies.kernels() or tallies.refusals()):
        return error
    emulation = replace(
        begun,
        finished=False,
        error=error.message,
        error_site=_site(place, last),
        refusals=tallies.refusals(),
        host_calls=tallies.host_calls(),
        cautions=tallies.cautions(),
        islands=tallies.islands,
        kernels=tallies.kernels(),
        notes=(*begun.notes, *tallies.notes),
        gaps=(*begun.gaps, *tallies.gaps),
    )
    return PartialEmulationError(error, emulation)


def read_events(path: Path) -> tuple[Emulation, Sequence[Event]] | None:
    """The answer as it was begun, and what followed; None where there is not even a beginning."""
    try:
        with path.open("rb") as file:
            lines = file.read(MOST_BYTES).splitlines(keepends=True)
        return from_json(Emulation, json.loads(lines[0])), tuple(_events(lines[1:]))
    except (OSError, IndexError, ValueError, RecursionError):
        return None


def _events(lines: Sequence[bytes]) -> Iterator[Event]:
    """Each line that is whole, until one is not."""
    for line in lines:
        try:
            yield from_json(Event, json.loads(line))
        except (ValueError, RecursionError):
            return


def _site(place: str, last: Site | None) -> Site | None:
    """Where it ended, with the module of the last thing that is known of, if it was there."""
    file, _, line = place.rpartition(":")
    if not file or not line.isdecimal():
        return None
    module = last.module if last is not None and (last.file, str(last.line)) == (file, line) else ""
    return Site(module, file, int(line))
