"""Hostile files for a time: ``python -m tests.fuzz SECONDS [FIRST]``.

Each reader works in a process of its own whose memory is bounded, so that an input which takes too
much of it, or ends the process, is a finding like any other. The table at the end is what
docs/hostile-files.md shows; the exit code is 1 where there was a finding.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

from tests.fuzz.loaders import LOADERS
from tests.fuzz.readers import READERS, Reader, inputs_of, tried, valid

SPACE = 2 * 2**30
"""Bytes of memory that a reader may have."""
SLOW_SECONDS = 20
"""How long one input may take."""
_HEAD = """\
| reader | inputs | refused | answered | ended | crashes | peak memory | slowest |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


@dataclass(slots=True)
class Tally:
    """What one process, or all of a reader's, came to."""

    seed: int
    """The last input."""
    inputs: int = 0
    answered: int = 0
    ended: int = 0
    """How often the process ended, where that is told as an error."""
    peak: int = 0
    """Most bytes that were resident."""
    slowest: float = 0.0
    what: str = ""
    """What the last input did that no input may do."""


def main() -> int:
    """Spend the seconds on all readers, one after the other."""
    os.environ["OMP_NUM_THREADS"] = "1"  # threads are lost where a process is copied
    seconds, first = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    everything = (*READERS, *LOADERS)
    crashes = 0
    print(_HEAD)
    for reader in everything:
        found = _campaign(reader, seconds / len(everything), first)
        crashes += found
    return 1 if crashes else 0


def _campaign(reader: Reader, seconds: float, first: int) -> int:
    """Run one reader in children, a new one after each end; how many inputs were findings."""
    if reader in LOADERS:  # with what it imports, for all children
        with tempfile.TemporaryDirectory() as folder:
            tried(reader, valid(reader)[0], Path(folder))
    total, crashes = Tally(first), 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        done = _watched(reader, total.seed, ends)
        crashes += bool(done.what)
        if done.what:
            print(f"{reader.name}, input {done.seed}:\n{done.what}", file=sys.stderr, flush=True)
        total = Tally(
            done.seed + 1,
            total.inputs + done.inputs,
            total.answered + done.answered,
            total.ended + done.ended,
            max(total.peak, done.peak),
            max(total.slowest, done.slowest),
        )
    refused = total.inputs - total.answered - total.ended - crashes
    figures = (total.inputs, refused, total.answered, total.ended, crashes)
    cells = (
        reader.name, *(f"{figure:,}" for figure in figures), f"{total.peak / 2**20:.0f} MiB",
        f"{total.slowest:.2f} s",
    )  # fmt: skip
    print(f"| {' | '.join(cells)} |", flush=True)
    return crashes


def _watched(reader: Reader, first: int, ends: float) -> Tally:
    """What a process came to that tried inputs until its end."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.json"
        pid = os.fork()
        if not pid:
            _child(reader, Path(folder), notes, first, ends)
        _, status = os.waitpid(pid, 0)
        done = Tally(**json.loads(notes.read_text()))
    if not status:
        return done
    if reader in LOADERS:
        return replace(done, ended=1)
    return replace(done, what=f"the process ended with status {status}")


def _child(reader: Reader, folder: Path, notes: Path, first: int, ends: float) -> None:
    """Try inputs until time is over, or one of them is a finding."""
    # torch maps libraries of that size: there, as in the model's process, what is allocated counts
    kind = resource.RLIMIT_DATA if reader in LOADERS else resource.RLIMIT_AS
    resource.setrlimit(kind, (SPACE, SPACE))
    done = Tally(first)
    while time.monotonic() < ends and not done.what:
        done.seed = first + done.inputs
        done.inputs += 1
        notes.write_text(json.dumps(asdict(done)))
        _try(reader, done, folder / "input")
        done.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    notes.write_text(json.dumps(asdict(done)))
    os._exit(0)


def _try(reader: Reader, done: Tally, folder: Path) -> None:
    started = time.monotonic()
    try:
        content = inputs_of(reader, Random(done.seed))
        started = time.monotonic()
        signal.alarm(SLOW_SECONDS)
        done.answered += tried(reader, content, folder)
    except BaseException as error:
        if reader not in LOADERS or not isinstance(error, MemoryError):
            done.what = traceback.format_exc()
    signal.alarm(0)
    done.slowest = max(done.slowest, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
