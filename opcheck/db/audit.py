"""A check of every file of the database: form, duplicates, evidence, names, spans, edits."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from opcheck.db import audit_files, audit_release, bounds, document, overlay, schemas, sums
from opcheck.db.audit_files import File
from opcheck.db.audit_words import Known, Told
from opcheck.db.bounds import BoundsError
from opcheck.db.document import Document
from opcheck.db.layers import Layer
from opcheck.db.shapes.libraries import LIBRARY_FILE
from opcheck.db.shapes.tables import HISTORY
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.database import Audit, Problem

_HEAD = 500
"""Bytes in which a file says whether it was written by hand."""
_COMMON = "vendor.yaml"


def audit(database: Database) -> Audit:
    """Look at every file of every layer, from anew: no index is asked."""
    files = [file for layer in database.layers for file in audit_files.files(layer)]
    problems = {*_edits(database.layers), *_unread(database.layers, files)}
    good: dict[Path, Document] = {}
    for file in files:
        try:
            good[file.path] = _read(file)
        except DatabaseError as error:
            problems.update(_duplicates(file) or [_damage(file, error)])
    known = _known(good)
    for file in files:
        if file.path in good:
            problems.update(_content(file, good, known))
    return Audit(len(files), tuple(sorted(problems)))


def _read(file: File) -> Document:
    """The checked content of a file.

    Raises:
        DatabaseError: it cannot be read, or is not of its form.
    """
    found = document.read(file.path, file.kind.shape)
    if file.kind.shape is LIBRARY_FILE:
        schemas.require_known(file.path, found.data)
    return found


def _damage(file: File, error: DatabaseError) -> Problem:
    """What the reader says, without the path that the problem has anyway."""
    line, _, text = error.message.removeprefix(f"{file.path}:").partition(": ")
    if line.isdigit():
        return Problem(file.name, int(line), "schema", text)
    return Problem(file.name, 0, "schema", error.message)


def _duplicates(file: File) -> list[Problem]:
    """Keys that stand twice; none where the file cannot be read at all."""
    import yaml

    try:
        repeated = list(bounds.repeated_keys(document.content(file.path)))
    except (DatabaseError, BoundsError, yaml.YAMLError):
        return []
    text = "the key {!r} stands here for a second time"
    return [Problem(file.name, line, "duplicate", text.format(key)) for line, key in repeated]


def _unread(layers: Iterable[Layer], files: Iterable[File]) -> Iterator[Problem]:
    """Files that look as if they were read, and are not."""
    read = frozenset(file.path for file in files)
    for layer in layers:
        for path in audit_files.unread(layer, read):
            text = "nothing reads it: no vendor and no part of the database has this name"
            yield Problem(audit_files.name_of(layer, path), 0, "unread", text)


def _edits(layers: Iterable[Layer]) -> Iterator[Problem]:
    """Generated files that are not what their importer wrote, or that none has noted."""
    for layer in layers:
        for folder in sorted({path.parent for path in layer.folder.glob("*/*.yaml")}):
            noted = sums.read(folder)
            if folder.name in overlay.BY_HAND or (layer.origin and not noted):
                continue
            present = sums.digests(folder)
            for name in sorted(noted.keys() | present.keys()):
                told = _edited(folder / name, noted.get(name), present.get(name))
                if told:
                    yield Problem(audit_files.name_of(layer, folder / name), 0, *told)


def _edited(path: Path, noted: str | None, present: str | None) -> tuple[str, str] | None:
    """Code and sentence of what is wrong with a file of these digests; None: nothing."""
    if present is None:
        return "missing", f"{sums.NAME} names a file that is not there"
    if noted is None:
        generated = b"do not edit" in bounds.content(path)[:_HEAD]
        return ("not-noted", f"{sums.NAME} has no digest of it") if generated else None
    if noted != present:
        return "edited", f"it is not what its importer wrote: {sums.NAME} has another digest"
    return None


def _known(good: Mapping[Path, Document]) -> Known:
    """What the files that can be read are, for the names in others."""
    overloads: frozenset[str] = frozenset()
    chips: dict[str, frozenset[str]] = {}
    for path, found in good.items():
        if found.data["schema"] == HISTORY:
            overloads |= found.data["overloads"].keys()
        elif path.name == _COMMON:
            chips[found.data["vendor"]] = frozenset(found.data["chips"])
    return Known(overloads, chips)


def _content(file: File, good: Mapping[Path, Document], known: Known) -> Iterator[Problem]:
    """What the form of a file does not tell."""
    data = good[file.path].data
    if file.kind.check is not None:
        told = file.kind.check(data, file.path, known)
    else:
        common = good.get(file.path.with_name(_COMMON))
        told = audit_release.release(data, file.path, known, common.data if common else None)
    found = list(told)
    lines = document.lines_of(file.path, [each.where for each in found])
    return (_placed(file, each, line) for each, line in zip(found, lines, strict=True))


def _placed(file: File, told: Told, line: int) -> Problem:
    return Problem(file.name, line if told.where else 0, told.code, told.text)
