"""Writes the page of exports with an open dimension: ``python -m benchmarks.exports.dynamic_page``.

It takes the folder that ``benchmarks.exports.happened FOLDER dynamic-operator`` wrote, and
``dynamic-model``; those for OpenVINO are in a folder of the target's name within it. Cases that
were compared before, as ``dynamic-compared.jsonl`` beside them has them, are compared again only
where ``--again`` is given.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import torch

from benchmarks.exports.__main__ import ONNX, OPENVINO, counts, wrong
from benchmarks.exports.compared import Compared, known, row_of
from benchmarks.exports.happened import DYNAMIC_MODEL, DYNAMIC_OPERATOR, cases, noted
from benchmarks.measure import ROOT
from opcheck.model.exporting import Stage

PATH = ROOT / "docs" / "export-agreement-dynamic.md"
KINDS = {DYNAMIC_MODEL: "models of the zoo", DYNAMIC_OPERATOR: "operators"}
RUNTIMES = {ONNX: "ONNX Runtime", OPENVINO: "OpenVINO's CPU plugin"}
"""Targets of the page; that of a later one has its exports in a folder of its name."""
_HEAD = """\
# Exports with an open dimension, and what really happens

Written by `python -m benchmarks.exports.dynamic_page FOLDER`; do not edit. Models of `tests/zoo`
and operators of PyTorch's own samples, drawn by a hash of their names, were really exported
with the first dimension of their first tensor left open, and that of other tensors
of the same length with it (`Dim.DYNAMIC` of `torch.export`); the file was run with the sample's
size and with one more (`python -m benchmarks.exports.happened FOLDER dynamic-operator`, and
`dynamic-model`). Taken are samples whose first dimension is two or longer, and that PyTorch itself
runs with other lengths; of an operator, the first such. Beside that stands what a scan with
`--dynamic` says of the same call. *Conversion* is whether a file is written that leaves the
dimension open; *running*, whether the runtime runs it with both sizes, whatever the values.
*Unknown* is what opcheck says that nobody has told.
Where an earlier run was wrong, the cause was read in the sources of the converter, and the same
cases were asked again: what is mended is counted as right here.
"""
_SECTION = """
## {target}

Run by {runtime}. {count} operators and {models} models were exported; {left} more have no sample
that takes another size.

{table}

### How far they came

{stages}

### Where opcheck is wrong

| case | what happened | what opcheck says |
| --- | --- | --- |
{wrong}

### Where it does not say

| case | what happened | why opcheck cannot tell |
| --- | --- | --- |
{unknown}
"""


def compared(folder: Path, target: str, *, again: bool = False) -> list[Compared]:
    """Every case that the folder has the outcome of; kept in a file of it."""
    path, against, rows = folder / "dynamic-compared.jsonl", known(target), []
    if again:
        path.unlink(missing_ok=True)
    lines = path.read_bytes().splitlines() if path.exists() else []
    done = {row.case: row for row in (msgspec.json.decode(line, type=Compared) for line in lines)}
    with path.open("ab") as file:
        for kind in KINDS:
            happened = noted(folder / f"{kind}s.jsonl")
            for case in cases(kind):
                said = happened.get(case.key)
                if said is None or said["stage"] == "none":
                    continue
                row = done.get(case.key)
                if row is None:
                    row = row_of(case, said, against)
                    file.write(msgspec.json.encode(row) + b"\n")
                    file.flush()
                rows.append(row)
    return rows


def section(rows: Sequence[Compared], left: int, target: str) -> str:
    """What the page has of one target; ``left`` operators and models could not be exported so."""
    found = Counter(row.kind for row in rows)
    return _SECTION.format(
        target=target,
        runtime=RUNTIMES[target],
        count=found[DYNAMIC_OPERATOR],
        models=found[DYNAMIC_MODEL],
        left=left,
        table="\n".join(_table(rows)),
        stages="\n".join(_stages(rows)),
        wrong="\n".join(wrong(rows)),
        unknown="\n".join(_unknown(rows)),
    )


def _table(rows: Sequence[Compared]) -> Iterator[str]:
    yield "| what | exports | question | right | wrong | unknown | right of what is said |"
    yield "| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    for kind, said in KINDS.items():
        chosen = [row for row in rows if row.kind == kind]
        for question in ("conversion", "running"):
            yield f"| {said} | {len(chosen)} | {question} | {counts(chosen, question)} |"


def _stages(rows: Sequence[Compared]) -> Iterator[str]:
    yield "| what | " + " | ".join(stage.value for stage in Stage) + " |"
    yield "| --- |" + " ---: |" * len(Stage)
    for kind, said in KINDS.items():
        found = Counter(row.stage for row in rows if row.kind == kind)
        yield f"| {said} | " + " | ".join(str(found[stage]) for stage in Stage) + " |"


def _unknown(rows: Sequence[Compared]) -> Iterator[str]:
    for row in rows:
        if row.conversion is None:
            why = row.said.why.replace("|", "\\|").replace("\n", " ")
            yield f"| {row.case} | {row.stage.value} | {why[:160]} |"


def _left(folder: Path) -> int:
    """How many cases PyTorch itself takes with no other size."""
    found = (noted(folder / f"{kind}s.jsonl") for kind in KINDS)
    return sum(said["stage"] == "none" for each in found for said in each.values())


def main() -> None:
    """Compare, and write the page."""
    torch.set_num_threads(1)
    folder, written = Path(sys.argv[1]), _HEAD
    for target in RUNTIMES:
        own = folder if target == ONNX else folder / target
        if own.exists():
            rows = compared(own, target, again="--again" in sys.argv)
            written += section(rows, _left(own), target)
    PATH.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
