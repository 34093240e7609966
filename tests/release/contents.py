"""What a wheel has to hold, and what its parts take."""

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.console import ROOT

_INDEX, _DATABASE = "opcheck/_index/", "opcheck/_compat_db/"
_NOT_PACKAGED = ("tests/", "benchmarks/", "docs/", "handbook/", "tools/")
"""Folders of the repository that an installation has no use for."""


def wanted(version: str) -> frozenset[str]:
    """Names that have to be in the wheel: the database, the catalogue, schemas, types, licence."""
    data = ROOT / "compat_db"
    names = {_DATABASE + p.relative_to(data).as_posix() for p in data.rglob("*") if p.is_file()}
    package = ROOT / "opcheck"
    for pattern in ("**/*.py", "lang/*.po", "**/*.json", "**/*.j2", "**/*.yaml", "py.typed"):
        names |= {path.relative_to(ROOT).as_posix() for path in package.glob(pattern)}
    # a checkout has an index of its own
    plain = frozenset(name for name in names if not name.startswith(_INDEX))
    return plain | {f"opcheck-{version}.dist-info/licenses/LICENSE"}


def faults(names: Iterable[str], version: str) -> Sequence[str]:
    """What is missing from a wheel with these names, and what does not belong there."""
    held = frozenset(names)
    missing = [f"missing: {name}" for name in sorted(wanted(version) - held)]
    extra = [f"not for users: {name}" for name in sorted(held) if name.startswith(_NOT_PACKAGED)]
    index = [] if any(name.startswith(_INDEX) for name in held) else [f"missing: {_INDEX}"]
    return [*missing, *index, *extra]


def sizes(wheel: Path) -> Mapping[str, tuple[int, int]]:
    """Bytes packed and unpacked, by part: all of the wheel, the database, and its index."""
    with zipfile.ZipFile(wheel) as archive:
        items = archive.infolist()
    parts = {"all": "", "database": _DATABASE, "index": _INDEX}
    return {
        part: (
            sum(item.compress_size for item in items if item.filename.startswith(prefix)),
            sum(item.file_size for item in items if item.filename.startswith(prefix)),
        )
        for part, prefix in parts.items()
    }
