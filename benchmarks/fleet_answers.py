"""Figures of what is asked of a fleet: 100,000 stored results are answered within a second."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.fleet_made import MENDED, fill, targets
from benchmarks.measure import RUNS, Figure
from opcheck.commands.fleet.answers.queries import (
    Compared,
    Wanted,
    difference_of,
    missing_of,
    query_of,
    summary_of,
)
from opcheck.commands.fleet.answers.summary import page_of
from opcheck.commands.fleet.answers.values import Goal, Pool
from opcheck.commands.fleet.html.page import fleet_page
from opcheck.commands.fleet.values import Filters

RESULTS = 100_000
SECONDS = 1.0
PAGE_MODELS, PAGE_BYTES = 1_000, 10**6


def answering() -> Iterator[Figure]:
    """Each answer over a store that has as many results as are promised."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder) / "one.db", Path(folder) / "two.db"
        fill(one, RESULTS // len(targets()))
        for digest in ("0123456789abcdef", MENDED):  # a database release with some kernels more
            fill(two, RESULTS // len(targets()) // 2, digest=digest)
        asked: dict[str, Callable[[], object]] = {
            "summary": lambda: summary_of(one),
            "missing, by vendor": lambda: missing_of(one, "last", Wanted(top=10)),
            "missing, by target": lambda: missing_of(
                one, "last", Wanted(goal=Goal.DEVICE, pool=Pool.TARGET, top=10)
            ),
            "difference of two runs": lambda: difference_of(two, None, Compared()),
            "query of an operator": lambda: query_of(
                one, "last", Filters(operators=("operator_017",))
            ),
        }
        for name, ask in asked.items():
            seconds = statistics.median(_seconds(ask) for _ in range(RUNS))
            detail = f"{seconds * 1e3:.0f} ms of work over {RESULTS:,} results"
            yield Figure(f"fleet {name} / s", seconds / SECONDS, 1.0, detail)


def _seconds(ask: Callable[[], object]) -> float:
    """How long this process works on it: what else the machine does meanwhile is no part of it."""
    started = time.process_time()
    ask()
    return time.process_time() - started


def page_size() -> Iterator[Figure]:
    """The web page of 1,000 models on 25 targets."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "fleet.db"
        fill(store, PAGE_MODELS)
        size = len(fleet_page(page_of(store)))
    detail = f"{size / 1e3:,.0f} kB for {PAGE_MODELS:,} models on {len(targets())} targets"
    yield Figure("fleet page / MB", size / PAGE_BYTES, 1.0, detail)
