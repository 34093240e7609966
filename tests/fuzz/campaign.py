"""One reader's inputs, tried in children whose memory is bounded, a new one after each end."""

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import NoReturn

from tests.fuzz import programs
from tests.fuzz.effects import Canaries, Watch
from tests.fuzz.loaders import LOADERS
from tests.fuzz.readers import WATCHES, Reader, inputs_of, tried, valid

SPACE = 2 * 2**30
"""Bytes of memory that a reader may have."""
SLOW_SECONDS = 20
"""How long one input may take."""
_NOTED_SECONDS = 0.5
"""How often a child writes down what it came to, beside each input's number."""


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
    spent: float = 0.0
    """Seconds of a processor in all, the making of inputs among them."""
    what: str = ""
    """What the last input did that no input may do."""


def campaign(
    reader: Reader, first: int, inputs: int | None, seconds: float | None
) -> tuple[Tally, int]:
    """Try so many inputs, or as many as there is time for; what came of them, and how many did
    what none may do: those are told on stderr."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ends = time.monotonic() + (seconds if seconds is not None else float("inf"))
    last = first + inputs if inputs is not None else 2**62
    if reader in LOADERS:  # with what it imports, for all children
        with tempfile.TemporaryDirectory() as folder:
            tried(reader, valid(reader)[0], Path(folder))
    total, found = Tally(first), 0
    while time.monotonic() < ends and total.seed < last:
        done = _child_of(reader, total.seed, last, ends)
        found += bool(done.what)
        if done.what:
            print(f"{reader.name}, input {done.seed}:\n{done.what}", file=sys.stderr, flush=True)
        total = together((total, replace(done, seed=done.seed + 1)))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return replace(total, spent=spent), found


def together(tallies: Sequence[Tally]) -> Tally:
    """What one reader's processes came to, with the last one's input."""
    return Tally(
        tallies[-1].seed,
        sum(one.inputs for one in tallies),
        sum(one.answered for one in tallies),
        sum(one.ended for one in tallies),
        max(one.peak for one in tallies),
        max(one.slowest for one in tallies),
        sum(one.spent for one in tallies),
    )


def _child_of(reader: Reader, first: int, last: int, ends: float) -> Tally:
    """What a process came to that tried inputs until its end."""
    with tempfile.TemporaryDirectory(prefix="fuzzed-") as folder:
        notes = Path(folder) / "notes.json"
        pid = os.fork()
        if not pid:
            _child(reader, Path(folder), notes, first, last, ends)
        _, status = os.waitpid(pid, 0)
        done = Tally(**json.loads(notes.read_text()))
        at = notes.with_name("at")
        done.seed = int(at.read_bytes()) if at.exists() else done.seed
        done.inputs = done.seed - first + 1
    if not status:
        return done
    if reader in LOADERS:
        return replace(done, ended=1)
    return replace(done, what=f"the process ended with status {status}")


def _child(
    reader: Reader, folder: Path, notes: Path, first: int, last: int, ends: float
) -> NoReturn:
    """Try inputs until time is over, or one of them is a finding."""
    # torch maps libraries of that size: there, as in the model's process, what is allocated counts
    kind = resource.RLIMIT_DATA if reader in LOADERS else resource.RLIMIT_AS
    resource.setrlimit(kind, (SPACE, SPACE))
    done, noted = Tally(first), 0.0
    notes.write_text(json.dumps(asdict(done)))
    os.chdir(_empty(folder / "here"))
    _watch(reader, folder)
    with notes.with_name("at").open("wb", buffering=0) as at:
        for seed in range(first, last):
            if done.what or time.monotonic() > ends:
                break
            done.seed = seed
            at.seek(0)
            at.write(b"%020d" % seed)
            _try(reader, done, folder / "input")
            if time.monotonic() - noted > _NOTED_SECONDS:
                done.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
                notes.write_text(json.dumps(asdict(done)))
                noted = time.monotonic()
    done.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    notes.write_text(json.dumps(asdict(done)))
    os._exit(0)


def _watch(reader: Reader, folder: Path) -> None:
    """Look for what the reader does beside reading."""
    programs.CANARIES = folder / "canaries"
    watch = Watch(Canaries(programs.CANARIES), (folder / "input", folder / "here"))
    WATCHES[:] = [watch]
    learn(watch, reader, folder / "input")


def learn(watch: Watch, reader: Reader, folder: Path) -> None:
    """Have valid files show what the reader needs."""
    for _ in range(2):  # what is kept for later is written once
        for content in valid(reader):
            path = folder / reader.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            watch.begin()
            with contextlib.suppress(Exception):  # what one release takes another may refuse
                reader.read(path)
            watch.learn()


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _try(reader: Reader, done: Tally, folder: Path) -> None:
    started = time.monotonic()
    try:
        content = inputs_of(reader, Random(done.seed))
        started = time.monotonic()
        signal.alarm(SLOW_SECONDS)
        done.answered += tried(reader, content, folder)
    except BaseException as error:  # whatever it is, it is a finding
        if reader not in LOADERS or not isinstance(error, MemoryError):
            done.what = traceback.format_exc()
    signal.alarm(0)
    done.slowest = max(done.slowest, time.monotonic() - started)
