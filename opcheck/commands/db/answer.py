"""Looking after the database: its age, contents, changes and faults."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.database import (
    Audit,
    Contents,
    DatabaseStatus,
    ImportedFile,
    Imports,
    MatrixDiffs,
    Refreshed,
)
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import Progress, open_database, silent


def database_status(databases: Sequence[str] = ()) -> DatabaseStatus:
    """Show how old the database is and what it holds."""
    from opcheck.db.status import status

    return status(open_database(databases), date.today())


def database_show(spec: TargetSpec, databases: Sequence[str] = ()) -> Contents:
    """Say what the database holds for one target."""
    from opcheck.db.status import contents

    database = open_database(databases)
    return contents(database, database.resolve(spec))


def database_diff(
    before: TargetSpec, after: TargetSpec | None, databases: Sequence[str] = ()
) -> MatrixDiffs:
    """Say what changed from one target or release to another; or what overlays change of one.

    Raises:
        UsageError: there is neither another target nor an overlay to compare with.
    """
    from opcheck.db.status import diffs, overlaid

    if after is not None:
        return diffs(open_database(databases), before, after)
    if not databases:
        raise UsageError(
            Sentence("{target} is compared with nothing", target=before),
            Sentence("give another target, or overlays with --db"),
        )
    return overlaid(open_database(), open_database(databases), before)


def database_check(databases: Sequence[str] = ()) -> Audit:
    """Look at every file of the database and say what is wrong."""
    from opcheck.db.audit.audit import audit

    return audit(open_database(databases))


def database_import(
    vendor: str, sources: Path, releases: Sequence[str], into: Path | None = None
) -> Imports:
    """Write the files of a vendor's releases from its own files, into the database itself."""
    from opcheck.db.importing import import_files

    root = into or open_database().root
    found = import_files(vendor, sources, releases, root)
    return Imports(tuple(ImportedFile(str(file.path), file.changed) for file in found))


ZOO = (
    "torchvision:resnet50",
    "torchvision:fasterrcnn_resnet50_fpn",
    "timm:vit_base_patch16_224",
    "timm:swinv2_tiny_window8_256",
    "ultralytics:yolov8n.yaml",
)
"""Models that a refreshed release is tried on, unless others are named."""


def database_refresh(
    vendor: str,
    sources: Path,
    checkouts: Sequence[Path],
    release: str,
    revision: str = "",
    models: Sequence[str] = ZOO,
    into: Path | None = None,
    progress: Progress = silent,
) -> Refreshed:
    """Bring a newer release of a vendor in from checkouts, and say what it changes.

    Its files are put beside those of the release before, in ``sources``.

    Raises:
        UsageError, DatabaseError: nothing to take, or no file of the database could be written.
        SourceError, TraceError: a model cannot be scanned.
    """
    from opcheck.commands.db import refresh
    from opcheck.db.refreshing import collect

    progress(Sentence("taking files of {vendor} {version}", vendor=vendor, version=release))
    collected = collect(vendor, sources, release, checkouts, revision)
    imports = database_import(vendor, collected.folder, (release,), into)
    progress(Sentence("comparing {version} with {before}", version=release,
                      before=collected.before))  # fmt: skip
    return refresh.refreshed(vendor, release, collected, imports, into, models, progress)
