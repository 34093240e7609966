"""Whole processes and calls measured side by side, and the figures that come of it."""

import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent
RUNS = 5
"""Runs of everything that a median is taken of."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One promised ratio, as measured here."""

    name: str
    ratio: float
    limit: float
    detail: str
    """The two quantities that were divided."""
    goal: float | None = None
    at_least: bool = False
    """The ratio is to be no smaller than the limit, instead of no larger."""

    @property
    def held(self) -> bool:
        """Whether the promise is kept."""
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took."""

    seconds: float
    peak_bytes: int | None
    """Most memory that it, or one of its children, held at a time; None where not known."""
    cpu_seconds: float | None = None
    """What it and its children computed; None where not known."""


@dataclass(frozen=True, slots=True)
class Done:
    """A process that ended, however it did."""

    code: int
    output: str
    errors: str
    cost: Cost


def process(*arguments: str) -> Cost:
    """Run this Python with arguments; its output is dropped, its failure is ours."""
    done = ran(*arguments)
    if done.code:
        sys.stderr.write(done.errors)
        raise SystemExit(f"{' '.join(arguments)} exited with {done.code}")
    return done.cost


def ran(*arguments: str) -> Done:
    """Run this Python with arguments, whether it fails or not."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, *arguments], stdout=output, stderr=errors, env=environment
        ) as running:
            _, status, usage = os.wait4(running.pid, 0)
            seconds = time.perf_counter() - started
            running.returncode = os.waitstatus_to_exitcode(status)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # Linux starts a child's peak at its parent's, so a large parent would be measured instead
        peak = usage.ru_maxrss * 1024 if usage.ru_maxrss > own else None
        cost = Cost(seconds, peak, usage.ru_utime + usage.ru_stime)
        return Done(running.returncode, _text(output), _text(errors), cost)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def in_turn(
    calls: Mapping[str, Callable[[], Cost]], runs: int = RUNS
) -> Mapping[str, Sequence[Cost]]:
    """Each of the calls, ``runs`` times over, in turn: a busy moment then hits them all alike."""
    found: dict[str, list[Cost]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            found[name].append(call())
    return found


def timed(call: Callable[[], object]) -> Cost:
    """What a call in this process took."""
    gc.collect()  # what earlier calls left behind is not this one's
    started = time.perf_counter()
    call()
    return Cost(time.perf_counter() - started, None)


def median_seconds(costs: Sequence[Cost]) -> float:
    """The median of the times."""
    return statistics.median(cost.seconds for cost in costs)


def median_peak(costs: Sequence[Cost]) -> float:
    """The median of the peaks, in bytes."""
    peaks = [cost.peak_bytes for cost in costs if cost.peak_bytes is not None]
    if len(peaks) < len(costs):
        raise SystemExit("memory cannot be measured: this process is larger than what it starts")
    return statistics.median(peaks)
