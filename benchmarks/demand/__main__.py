"""Writes ``docs/demand.md``: ``python -m benchmarks.demand FOLDER`` (``make demand FOLDER=…``).

The folder keeps what was traced and planned, and what is there is not done again: begin with a few
by ``--first N``, go on later. ``--again OPERATOR``: those are planned anew that met it.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.demand.models import entries, targets
from benchmarks.demand.page import page
from benchmarks.demand.plans import Met, Pair
from benchmarks.demand.proofs import stored as proved
from benchmarks.demand.traces import Traces, slug
from benchmarks.measure import ROOT
from opcheck.db.store import Database
from opcheck.model.target import TargetSpec

PAGE = ROOT / "docs" / "demand.md"


def stored(folder: Path) -> Mapping[str, tuple[Pair, ...]]:
    """Model and mode -> its pairs, on the targets of the device types that it was planned for."""
    names = {slug(entry): entry.name for entry in entries(folder)}
    files: dict[str, list[Path]] = {}
    for file in sorted((folder / "plans").glob("*/*.json")):
        files.setdefault(file.stem, []).append(file)
    return {
        names[stem]: tuple(pair for file in files[stem] for pair in _read(file))
        for stem in sorted(files.keys() & names.keys())
    }


def _read(file: Path) -> Iterator[Pair]:
    for pair in json.loads(file.read_text("utf-8")):
        met = (
            Met(m["op"], m["code"], m["verdict"], tuple(m["called"]), tuple(m["rules"]))
            for m in pair["met"]
        )
        yield Pair(pair["target"], pair["calls"], tuple(met), tuple(pair["left"]))


def _forget(folder: Path, op: str) -> None:
    """Drop the plans that met an operator."""
    for file in (folder / "plans").glob("*/*.json"):
        if any(met.op == op or op in met.called for pair in _read(file) for met in pair.met):
            file.unlink()


def main() -> None:
    """Trace, plan, write."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--first", type=int, help="so many models and modes; all unless told")
    asked.add_argument("--again", action="append", default=[], help="an operator to plan anew")
    options = asked.parse_args()
    database = Database.open()
    matrices = [database.matrix(database.resolve(TargetSpec.parse(text))) for text in targets()]
    wanted = entries(options.folder)[: options.first]
    for line in Traces(options.folder / "traces").make(wanted, matrices):
        print(line, file=sys.stderr, flush=True)
    for op in options.again:
        _forget(options.folder, op)
    kinds = dict.fromkeys(matrix.target.device_type for matrix in matrices)
    for kind in kinds:  # PrivateUse1 has one name in a process
        arguments = (str(options.folder), kind, str(len(wanted)))
        command = [sys.executable, "-m", "benchmarks.demand.plans", *arguments]
        subprocess.run(command, check=True, cwd=ROOT)
    proofs = proved(options.folder)
    released = [text.partition("+")[0] for text in targets()]
    newest = {text.partition("@")[0]: text for text in reversed(released)}  # which comes first
    text = page(stored(options.folder), len(entries(options.folder)), proofs, newest.values())
    PAGE.write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
