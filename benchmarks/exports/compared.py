"""What opcheck says of each case that was exported, beside what happened."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct

from benchmarks.exports.happened import MODEL, OPERATOR, Case, cases, noted
from opcheck.commands.export.values import NOT_CONVERTED
from opcheck.db.store import Database
from opcheck.model.dynamic import SiteTaken, SizeRule
from opcheck.model.exporting import Stage
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import TargetReport
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Verdict
from opcheck.resolve.dynamic import stays_open, taken
from opcheck.resolve.findings import resolve
from opcheck.trace import trace_model
from opcheck.trace.sizes.dynamic import with_sizes


class Against(Struct, frozen=True):
    """What the database has of a target."""

    matrix: SupportMatrix
    sizes: tuple[SizeRule, ...]


class Said(Struct, frozen=True):
    """What opcheck says of one case; None where it could not tell."""

    converted: bool | None
    runs: bool | None
    why: str = ""
    """The first finding in trouble."""


class Compared(Struct, frozen=True):
    """One case, both ways."""

    case: str
    kind: str
    dtype: str
    stage: Stage
    error: str
    said: Said

    @property
    def conversion(self) -> bool | None:
        """Whether opcheck is right on the conversion; None where it did not say."""
        said = self.said.converted
        return None if said is None else said == self.stage.converted

    @property
    def running(self) -> bool | None:
        """Whether it is right on whether the model runs there; None where it did not say."""
        said = self.said.runs
        return None if said is None else said == self.stage.runs


def known(target: str) -> Against:
    """What the database has of the target."""
    database = Database.open()
    found = database.resolve(TargetSpec(target))
    return Against(database.matrix(found), tuple(database.size_rules(found)))


def said_of(case: Case, against: Against) -> Said:
    """Trace a case, with the dimensions marked that its export leaves open, and resolve it."""
    module, args, kwargs = case.make()
    marked = case.marked(module, args, kwargs)
    matrix = against.matrix
    with torch.no_grad():
        trace = trace_model(
            module.eval(), tuple(args), dict(kwargs), device_type=matrix.target.device_type
        )
        trace = with_sizes(trace, marked, module, tuple(args), dict(kwargs), casts={})
    said = answer(resolve(trace, matrix))
    if not marked or said.converted is False:
        return said
    return _sized(said, taken(trace, matrix, against.sizes))


def _sized(said: Said, sites: Sequence[SiteTaken]) -> Said:
    """The answer where the marked sizes are left open too."""
    stays = stays_open(sites)
    if stays:
        return said
    why = next(f"{s.site.kind}: {s.site.op}: {s.site.text}; {s.text}" for s in sites
               if stays_open((s,)) is stays)  # fmt: skip
    return Said(stays, said.runs if said.runs is False else stays, why)


def answer(report: TargetReport) -> Said:
    """What a report says of the conversion, and of the run."""
    found = [f for f in report.findings if f.verdict in (Verdict.UNSUPPORTED, Verdict.UNKNOWN)]
    refused = [f for f in found if f.verdict is Verdict.UNSUPPORTED]
    left_out = [f for f in refused if f.reason.code in NOT_CONVERTED]
    runs = report.summary.runs
    converted = False if left_out else None if runs is None else True
    first = (left_out or refused or found)[:1]
    why = "; ".join(f"{f.op}: {f.reason.code}: {f.reason.text}" for f in first)
    return Said(converted, runs, why)


def compared(folder: Path, target: str, kinds: Iterable[str] = (MODEL, OPERATOR)) -> list[Compared]:
    """Every case that the folder has the outcome of."""
    against, rows = known(target), []
    for kind in kinds:
        happened = noted(folder / f"{kind}s.jsonl")
        for case in cases(kind):
            said = happened.get(case.key)
            if said is not None and said["stage"] != "none":
                rows.append(row_of(case, said, against))
    return rows


def row_of(case: Case, happened: Mapping[str, Any], against: Against) -> Compared:
    """One case that was exported, beside what opcheck says of it."""
    try:
        said = said_of(case, against)
    except Exception as error:  # what cannot be traced is no answer
        said = Said(None, None, f"{type(error).__name__}: {error}"[:200])
    stage = Stage(happened["stage"])
    return Compared(case.key, case.kind, case.dtype, stage, happened["error"], said)


def kept(rows: Iterable[Compared], path: Path) -> None:
    """Write the comparison down, a line a case."""
    lines = (
        json.dumps({
            "case": row.case, "stage": row.stage.value, "converted": row.said.converted,
            "runs": row.said.runs, "why": row.said.why, "error": row.error,
        })
        for row in rows
    )  # fmt: skip
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
