"""What was traced before the model's process ended, read from the journals that it left.

Nothing in them is taken on trust: the user's code ran in the process that wrote them.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.errors import OpcheckError
from opcheck.isolate.sound import require_sound
from opcheck.model.codec import MalformedError, from_json
from opcheck.model.trace import Gap, Trace, Use
from opcheck.model.work import CutShortError, DeviceWork, Recorded, WorkRequest, WorkResult

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
    results = [*answers, *_unfinished(folder, len(answers))]
    if not any(result.trace.sequence for result in results):
        return error
    ended = [*answers, *(_ended(result, gap) for result in results[len(answers) :])]
    for work in (work for group in request.groups for work in group):
        ended += _missing(work, ended, gap)
    return CutShortError(error, tuple(sorted(ended, key=lambda one: not one.trace.sequence)))


def _unfinished(folder: Path, done: int) -> Iterator[WorkResult]:
    """What the journals hold, but for the answers that are there, in the order of the works."""
    numbers = sorted(int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdecimal())
    for number in numbers:
        if number >= done and (found := read_journal(folder / f"{number}.jsonl")) is not None:
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
