"""Prints the table of figures: ``python -m benchmarks``; exits with 1 where a promise is broken."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import database, fleet_answers, fleets, processes
from benchmarks.measure import ROOT, Figure


def _measured(folder: Path) -> Iterator[Figure]:
    return chain(
        processes.startup(),
        database.loading(),
        database.size(),
        fleet_answers.answering(),
        fleet_answers.page_size(),
        processes.saved_graphs(folder),
        processes.large_process(folder),
        processes.packed_processes(folder),
        processes.many_targets(folder),
        processes.every_target(folder),
        processes.planning(folder),
        fleets.figures(folder),
        _within("benchmarks.calls"),
        _within("benchmarks.verdicts"),
        _within("benchmarks.shims"),
    )


def _within(module: str) -> Iterator[Figure]:
    """Those that need torch come from a process of their own."""
    command = [sys.executable, "-m", module]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    yield from (Figure(**figure) for figure in json.loads(done.stdout))


def main() -> int:
    """Measure everything and say whether all of it holds."""
    table = Table("figure", "ratio", "promised", "measured", "")
    held = True
    with tempfile.TemporaryDirectory() as folder, Console(stderr=True).status("") as status:
        for figure in _measured(Path(folder)):
            status.update(figure.name)
            held &= figure.held
            bound = f"{'≥' if figure.at_least else '≤'} {figure.limit:g}"
            goal = f", goal {figure.goal:g}" if figure.goal else ""
            mark = "✔" if figure.held else "✘"
            table.add_row(figure.name, f"{figure.ratio:.2f}", bound + goal, figure.detail, mark)
    Console(width=120).print(table)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
