"""Writing files of ``compat_db`` from a vendor's own files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from opcheck.db import importers
from opcheck.db.files import digests
from opcheck.db.files.document import uncollected
from opcheck.db.importers.base import Importer
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.registry import discover


class Imported(Struct, frozen=True):
    """One file that an importer gave."""

    path: Path
    changed: bool
    """Whether it was not there, or said something else before."""


def known() -> Mapping[str, type[Importer]]:
    """Every importer, by the name of its vendor."""
    found = discover(importers, Importer)  # type: ignore[type-abstract]  # only subclasses come
    return {importer.name: importer for importer in found}


def import_files(
    vendor: str, sources: Path, releases: Sequence[str], into: Path
) -> tuple[Imported, ...]:
    """Write the files of a vendor's releases, all that ``sources`` holds if none is named.

    ``sources`` holds one folder of files a vendor, or is the vendor's own among them. The same
    input gives the same bytes.
    """
    importer = importer_of(vendor)
    if not sources.is_dir():
        raise UsageError(
            Sentence("no folder of vendor files: {text}", text=sources),
            Sentence("give the one with SOURCES.yaml"),
        )
    if (sources / "SOURCES.yaml").is_file():
        sources = sources.resolve().parent
    with uncollected():
        texts = _texts(importer, sources, releases)
    folder = into / importer.name
    return tuple(
        _written(folder / name, text)
        for name, text in {
            **texts,
            digests.NAME: digests.listing(folder, texts),
        }.items()
    )


def importer_of(vendor: str) -> Importer:
    """The importer of a vendor.

    Raises:
        UsageError: it has none.
    """
    if vendor not in known():
        raise UsageError(
            Sentence("unknown vendor {text}", text=repr(vendor)),
            Sentence("known importers: {list}", list=", ".join(known())),
        )
    return known()[vendor]()


def _texts(importer: Importer, sources: Path, releases: Sequence[str]) -> dict[str, str]:
    """Every file before any is written, so that a failure leaves the folder as it was."""
    try:
        texts = dict(importer.common(sources))
        for release in releases or importer.releases(sources):
            texts[f"{release}.yaml"] = importer.run(sources, release)
    except OSError as error:
        hint = Sentence("give the folder with one folder of files a vendor")
        raise DatabaseError(
            Sentence(
                "cannot read {text_file}: {text}", text_file=error.filename, text=error.strerror
            ),
            hint,
        ) from error
    return texts


def _written(path: Path, text: str) -> Imported:
    data = text.encode()
    try:
        if path.is_file() and path.read_bytes() == data:
            return Imported(path, changed=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        hint = Sentence("choose a folder to write to with --into")
        raise DatabaseError(
            Sentence("cannot write {text}: {text_why}", text=path, text_why=error.strerror), hint
        ) from error
    return Imported(path, changed=True)
