"""What was traced or emulated before a process ended, read from the journals that it left.

What was traced before the model's process ended, read from the journals that it left. Nothing in
them is taken on trust: the user's code ran in the process that wrote them.

An emulated run whose process ended before it had answered, read from the journal that it left.
Nothing in it is taken on trust: the user's code ran in the process that wrote it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.errors import OpcheckError
from opcheck.model.codec import MalformedError, from_json
from opcheck.model.emulation import Emulation, Event, PartialEmulationError, Site
from opcheck.model.trace import Gap, Trace, Use
from opcheck.model.work import CutShortError, DeviceWork, Recorded, WorkRequest, WorkResult
from opcheck.sandbox.parent.answers import require_sound

MOST_BYTES = 2**28
"""How much of a journal is read."""
_MODEL = "(the model)"


def cut_short(
    error: OpcheckError,
    gap: Gap,
    request: WorkRequest,
    answers: Sequence[WorkResult],
    folder: Path,
) -> OpcheckError:
    """The error with what was traced until then, or as it is where nothing was.

    Args:
        error: how the process ended.
        gap: the same for the traces; where in the user's code it stood, if that is known.
        request: what it was asked.
        answers: the results that were whole by then.
        folder: where its journals are.
    """
    results = [*answers, *_unfinished(folder, answers)]
    if not any(result.trace.sequence for result in results):
        return error
    ended = [*answers, *(_ended(result, gap) for result in results[len(answers) :])]
    for work in (work for group in request.groups for work in group):
        ended += _missing(work, ended, gap)
    return CutShortError(error, tuple(sorted(ended, key=lambda one: not one.trace.sequence)))


def _unfinished(folder: Path, answers: Sequence[WorkResult]) -> Iterator[WorkResult]:
    """What the journals hold, but for the answers that are there, in the order of the works."""
    done = {(answer.trace.device_type, answer.targets) for answer in answers}
    numbers = sorted(int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdecimal())
    for number in numbers:
        found = read_journal(folder / f"{number}.jsonl")
        if found is not None and (found.trace.device_type, found.targets) not in done:
            yield found


def read_journal(path: Path) -> WorkResult | None:
    """The result as far as it was recorded; None where there is not even a beginning."""
    try:
        with path.open("rb") as file:
            lines = file.read(MOST_BYTES).splitlines(keepends=True)
        begun = from_json(WorkResult, json.loads(lines[0]))
    except (OSError, IndexError, ValueError, RecursionError):
        return None
    trace = _added(begun.trace, _parts(lines[1:]))
    try:
        require_sound(trace)
    except MalformedError:
        return None
    return replace(begun, trace=trace)


def _parts(lines: Sequence[bytes]) -> Iterator[Recorded]:
    """Each line that is whole, until one is not."""
    for line in lines:
        try:
            yield from_json(Recorded, json.loads(line))
        except (ValueError, RecursionError):
            return


def _added(trace: Trace, parts: Iterator[Recorded]) -> Trace:
    found = list(parts)
    sequence = tuple(use for part in found for use in part.sequence)
    counts = Counter(sequence)
    uses = (use for part in found for use in part.uses)
    return replace(
        trace,
        nodes=tuple(node for part in found for node in part.nodes),
        uses=tuple(replace(use, count=counts[index]) for index, use in enumerate(uses)),
        sequence=sequence,
        gaps=tuple(sorted({gap for part in found for gap in part.gaps})),
    )


def _ended(result: WorkResult, gap: Gap) -> WorkResult:
    trace = result.trace
    last = _last(trace.uses[trace.sequence[-1]]) if trace.sequence else _MODEL
    gaps = {*trace.gaps, replace(gap, where=gap.where or last)}
    return replace(result, trace=replace(trace, gaps=tuple(sorted(gaps))))


def _last(use: Use) -> str:
    return f"{use.file}:{use.line}" if use.file else use.module or _MODEL


def _missing(work: DeviceWork, found: Sequence[WorkResult], gap: Gap) -> list[WorkResult]:
    """A result without any call for the targets that the process had not come to."""
    of_type = [one for one in found if one.trace.device_type == work.device_type]
    if any(not one.targets for one in of_type):
        return []
    left = set(work.targets).difference(*(one.targets for one in of_type))
    if of_type and not left:
        return []
    begun = found[0]
    empty = Trace(
        begun.trace.torch_version, work.device_type, begun.trace.mode, (), (), (),
        gaps=(replace(gap, where=gap.where or _MODEL),),
    )  # fmt: skip
    targets = tuple(target for target in work.targets if target in left) if of_type else ()
    return [WorkResult(empty, begun.kind, begun.digest, begun.notes, {}, targets)]


def left_off(error: OpcheckError, place: str, path: Path, *, unused: bool = False) -> OpcheckError:
    """The error with what the device was asked for until then, or as it is where it was nothing.

    Args:
        error: how the process ended.
        place: ``file:line`` where it stood in the user's code; "" where that is not known.
        path: the journal.
        unused: whether a run that called nothing is an answer, too.
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
    if not (unused or tallies.kernels() or tallies.refusals()):
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
        memory_peak=tallies.memory_peak,
    )
    return PartialEmulationError(error, emulation, tallies.steps, tallies.forwards)


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
