"""What a newer release changes: kernels, faults of the database, and models that run."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from opcheck.db.audit.audit import audit
from opcheck.db.refreshing import Collected
from opcheck.db.status import diffs
from opcheck.db.store import Database
from opcheck.lang.sentence import Sentence
from opcheck.model.database import Imports, ModelChange, Refreshed
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import Target, TargetSpec
from opcheck.pipeline.database import Progress, silent
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.traces import scanned_for


def refreshed(
    vendor: str,
    release: str,
    collected: Collected,
    imports: Imports,
    into: Path | None,
    models: Sequence[str],
    progress: Progress,
) -> Refreshed:
    """Compare a release that was imported with the one before it, in the database of ``into``."""
    database = Database.open(into)
    before, after = TargetSpec(vendor, collected.before), TargetSpec(vendor, release)
    found = diffs(database, before, after)
    pairs = [(diff.before, diff.after) for diff in found.diffs]
    changes = [c for model in models for c in _changes(database, model, pairs, progress)]
    return Refreshed(
        vendor=vendor,
        before=collected.before,
        release=release,
        collected=collected.files,
        by_hand=collected.by_hand,
        files=imports.files,
        diffs=found.diffs,
        audit=audit(database),
        models=tuple(changes),
    )


def _changes(
    database: Database, model: str, pairs: Sequence[tuple[Target, Target]], progress: Progress
) -> Iterator[ModelChange]:
    """Whether a model runs on each chip, before and after."""
    progress(Sentence("scanning {text}", text=model))
    targets = list(dict.fromkeys(target for pair in pairs for target in pair))
    matrices = [database.matrix(target) for target in targets]
    request = ScanRequest(
        ModelSpec(model), tuple(TargetSpec.parse(str(target)) for target in targets)
    )
    scanned = scanned_for(request, database, matrices, silent, silent)
    report = report_of(model, scanned, matrices)
    runs = {found.target: found.summary.runs for found in report.targets}
    for first, second in pairs:
        name = TargetSpec.parse(str(second)).name
        yield ModelChange(model, name, runs[str(first)], runs[str(second)])
