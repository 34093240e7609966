"""The index that a wheel brings, so that no scan after an installation has to parse YAML first."""

import re
from pathlib import Path

from opcheck.db.files import index
from opcheck.db.store import Database
from opcheck.model.target import Target

_NOTES = re.compile(r"\.(?:noted|files)-")
"""In the names of notes on when files changed: an installation has other times."""


def prebuild(root: Path, folder: Path = index.SHIPPED) -> int:
    """Compile every file of the database at ``root`` into ``folder``; the bytes of all of it.

    What another folder brings is not read: what is found there would not be put into this one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shipped, index.SHIPPED = index.SHIPPED, folder
    try:
        return _compile(Database(root, folder), folder)
    finally:
        index.SHIPPED = shipped


def _compile(database: Database, folder: Path) -> int:
    _read_shared(database)
    for vendor in database.vendors.values():
        for release in vendor.files:
            vendor.release(release)
    for target in database.targets():
        _read(database, target)
    return sum(_settled(path) for path in folder.iterdir())


def _read_shared(database: Database) -> None:
    database.tables.index()
    database.torch_environment()
    database.cuda_names()
    _ = database.model_rows  # read when it is first asked for


def _read(database: Database, target: Target) -> None:
    """Ask of a target all that commands ask."""
    database.matrix(target)
    database.compilers(target)
    database.triton(target)
    database.remedies(target)
    database.size_rules(target)
    database.porting(target)
    database.environment(target.vendor)
    database.chip(target)
    database.toolkits(target)


def _settled(path: Path) -> int:
    """Remove a note, and let everybody read a compiled file; its bytes."""
    if _NOTES.search(path.name):
        path.unlink()
        return 0
    path.chmod(0o644)
    return path.stat().st_size
