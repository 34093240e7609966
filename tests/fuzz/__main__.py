"""Hostile files for every reader: for a time, or so many of each.

``python -m tests.fuzz SECONDS [--first N]`` shares a time among the readers. ``python -m tests.fuzz
--each N [--graphs N] [--canary N] [--first N] [--reader NAME …]`` tries N inputs with each reader,
other numbers with those that build or run a graph, and has the last be given to commands as well.

Each reader works in a process of its own whose memory is bounded, so that an input which takes too
much of it, or ends the process, is a finding like any other; so is whatever a reader does beside
reading. The table at the end is what docs/hostile-files.md shows; the exit code is 1 where there
was a finding.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from tests.fuzz.campaign import Tally, campaign, together
from tests.fuzz.loaders import LOADERS
from tests.fuzz.readers import READERS, Reader

_HEAD = """\
| reader | inputs | refused | answered | ended | findings | in a CPU second | peak | slowest |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""
_GRAPHS = ("exported program",)
"""Readers without torch that build a graph."""
_AT_ONCE = os.cpu_count() or 1
_PART = 2500
"""Inputs that one process tries, so that no processor waits for the slowest reader."""
_EVERYTHING = (*READERS, *LOADERS)


@dataclass(frozen=True, slots=True)
class _Task:
    """What is tried with one reader."""

    name: str
    first: int
    inputs: int | None
    seconds: float | None


def main(arguments: Sequence[str]) -> int:
    """Try what is asked for; 1 where there was a finding."""
    os.environ["OMP_NUM_THREADS"] = "1"  # threads are lost where a process is copied
    asked = _asked(arguments)
    findings = 0
    print(_HEAD)
    with ProcessPoolExecutor(_AT_ONCE if asked.each else 1) as pool:
        tried = pool.map(_tried, _tasks(asked))
        for name, parts in groupby(tried, key=itemgetter(0)):
            totals, founds = zip(*((total, found) for _, total, found in parts), strict=True)
            print(_row(name, together(totals), sum(founds)), flush=True)
            findings += sum(founds)
    if asked.canary:
        from tests.fuzz.commands import given_to_commands

        findings += given_to_commands(asked.canary, asked.first, asked.reader)
    return 1 if findings else 0


def _asked(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("seconds", nargs="?", type=float)
    parser.add_argument("--each", type=int)
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--canary", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--reader", action="append", default=[])
    asked = parser.parse_args(arguments)
    if asked.seconds is None and not (asked.each or asked.canary):
        parser.error("how long, or how many?")
    return asked


def _tasks(asked: argparse.Namespace) -> Iterator[_Task]:
    chosen = [reader for reader in _EVERYTHING if not asked.reader or reader.name in asked.reader]
    if asked.seconds is not None:
        for reader in chosen:
            yield _Task(reader.name, asked.first, None, asked.seconds / len(chosen))
    elif asked.each:
        for reader in sorted(chosen, key=_builds_graphs, reverse=True):  # the slow ones first
            many = asked.graphs if asked.graphs and _builds_graphs(reader) else asked.each
            for done in range(0, many, _PART):
                yield _Task(reader.name, asked.first + done, min(_PART, many - done), None)


def _builds_graphs(reader: Reader) -> bool:
    return reader in LOADERS or reader.name in _GRAPHS


def _tried(task: _Task) -> tuple[str, Tally, int]:
    (reader,) = (reader for reader in _EVERYTHING if reader.name == task.name)
    total, found = campaign(reader, task.first, task.inputs, task.seconds)
    return task.name, total, found


def _row(name: str, total: Tally, found: int) -> str:
    refused = total.inputs - total.answered - total.ended - found
    figures = (total.inputs, refused, total.answered, total.ended, found)
    cells = (
        name, *(f"{figure:,}" for figure in figures), f"{total.inputs / (total.spent or 1):.1f}",
        f"{total.peak / 2**20:.0f} MiB", f"{total.slowest:.2f} s",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
