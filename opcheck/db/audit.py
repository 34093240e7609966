"""A check of every file of the database: form, duplicates, evidence, names, spans, edits."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opcheck.db import (
    audit_release,
    document,
    overlay,
    porting,
    porting_shapes,
    quick,
    shapes,
    sums,
)
from opcheck.db.document import Document
from opcheck.db.layers import Layer
from opcheck.db.shape import Shape
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.database import Audit, Problem

_TABLES: Mapping[str, Shape] = {
    "history": shapes.HISTORY_FILE,
    "extensions": shapes.EXTENSIONS_FILE,
    "operators": shapes.OPERATORS_FILE,
    "composites": shapes.COMPOSITES_FILE,
    "choices": shapes.CHOICES_FILE,
    "collectives": shapes.COLLECTIVES_FILE,
    "earlier": shapes.EARLIER_FILE,
}
"""Files of PyTorch's tables, by what stands before ``@``."""
_PYTORCH = "pytorch"
_HEAD = 500
"""Bytes in which a file says whether it was written by hand."""


@dataclass(frozen=True, slots=True)
class _File:
    """One file with the form that it must have."""

    layer: Layer
    path: Path
    shape: Shape

    @property
    def name(self) -> str:
        """As people are told of it."""
        return self.layer.of(self.path) or self.path.relative_to(self.layer.folder).as_posix()

    def problem(self, code: str, text: str, line: int = 0) -> Problem:
        """A problem of this file."""
        return Problem(self.name, line, code, text)


def audit(database: Database) -> Audit:
    """Look at every file of every layer, from anew: no index is asked."""
    files = [file for layer in database.layers for file in _files(layer)]
    problems = set(_edits(database.layers))
    good: dict[Path, Document] = {}
    for file in files:
        try:
            good[file.path] = document.read(file.path, file.shape)
        except DatabaseError as error:
            problems.add(_damage(file, error))
        else:
            problems.update(_duplicates(file))
    names = _history(database)
    for file in files:
        if file.path in good:
            problems.update(_content(file, good, names))
    return Audit(len(files), tuple(sorted(problems)))


def _files(layer: Layer) -> Iterator[_File]:
    """Every file of a layer that is read as part of the database."""
    for name, paths in overlay.vendor_files(layer).items():
        for stem, path in paths.items():
            if name == _PYTORCH and not layer.origin:
                continue
            shape = shapes.VENDOR_FILE if stem == "vendor" else shapes.RELEASE
            yield _File(layer, path, shape)
    for path in sorted((layer.folder / overlay.ADVISORIES).glob("*.yaml")):
        yield _File(layer, path, shapes.ADVISORY_FILE)
    for path in sorted((layer.folder / overlay.REMEDIES).glob("*.yaml")):
        yield _File(layer, path, shapes.REMEDY_FILE)
    for path in sorted((layer.folder / overlay.DYNAMIC).glob("*.yaml")):
        yield _File(layer, path, shapes.DYNAMIC_FILE)
    for path in sorted((layer.folder / overlay.PORTING).glob("*.yaml")):
        common = path.stem == porting.COMMON
        shape = porting_shapes.CUDA_NAMES_FILE if common else porting_shapes.PORTING_FILE
        yield _File(layer, path, shape)
    if layer.origin:
        yield from (_File(layer, p, shapes.OVERLAY_FILE) for p in overlay.overlay_paths(layer))
        return
    for path in sorted((layer.folder / _PYTORCH).glob("*.yaml")):
        yield _File(layer, path, _TABLES.get(path.stem.partition("@")[0], shapes.HISTORY_FILE))


def _damage(file: _File, error: DatabaseError) -> Problem:
    """What the reader says, without the path that the problem has anyway."""
    line, _, text = error.message.removeprefix(f"{file.path}:").partition(": ")
    if line.isdigit():
        return file.problem("schema", text, int(line))
    return file.problem("schema", error.message)


def _duplicates(file: _File) -> Iterator[Problem]:
    """Keys that stand twice, of which YAML would drop the first in silence."""
    text = file.path.read_bytes()
    try:
        quick.read(text.decode(), distinct=True)
    except quick.OtherStyleError:
        for line, key in document.repeated_keys(text):
            yield file.problem("duplicate", f"the key {key!r} stands here for a second time", line)


def _edits(layers: Iterable[Layer]) -> Iterator[Problem]:
    """Generated files that are not what their importer wrote, or that none has noted."""
    for layer in layers:
        for folder in sorted({path.parent for path in layer.folder.glob("*/*.yaml")}):
            noted = sums.read(folder)
            by_hand = folder.name in overlay.BY_HAND
            if by_hand or (layer.origin and not noted):
                continue
            present = sums.digests(folder)
            for name in sorted(noted.keys() | present.keys()):
                file = _File(layer, folder / name, shapes.RELEASE)
                if name not in present:
                    yield file.problem("missing", f"{sums.NAME} names a file that is not there")
                elif name not in noted and _is_generated(file.path):
                    yield file.problem("not-noted", f"{sums.NAME} has no digest of it")
                elif noted.get(name, present[name]) != present[name]:
                    text = f"it is not what its importer wrote: {sums.NAME} has another digest"
                    yield file.problem("edited", text)


def _is_generated(path: Path) -> bool:
    """Whether a file says that an importer wrote it."""
    head = path.read_bytes()[:_HEAD]
    return b"do not edit" in head


def _history(database: Database) -> frozenset[str]:
    """Every overload that PyTorch is known to have had; empty where its table is damaged."""
    try:
        return frozenset(database.tables.history)
    except DatabaseError:
        return frozenset()


def _content(
    file: _File, good: Mapping[Path, Document], names: frozenset[str]
) -> Iterator[Problem]:
    """What the form of a file does not tell."""
    data = good[file.path].data
    told: Iterable[tuple[str, str]] = ()
    if file.shape is shapes.RELEASE:
        common = good.get(file.path.with_name("vendor.yaml"))
        told = audit_release.release(data, common.data if common else None, file.path, names)
    elif file.shape is shapes.VENDOR_FILE:
        told = audit_release.vendor(data, file.path)
    elif file.shape is shapes.ADVISORY_FILE:
        told = _advisory(data, file.path, names)
    elif file.shape is shapes.REMEDY_FILE:
        told = _remedy(data, file.path, names)
    elif file.shape is shapes.OVERLAY_FILE:
        told = _overlay(file, names)
    for code, text in told:
        yield file.problem(code, text)


def _advisory(
    data: Mapping[str, Any], path: Path, names: frozenset[str]
) -> Iterator[tuple[str, str]]:
    if data["id"] != path.stem:
        yield "name", f"its id is {data['id']}"
    for use in data["uses"]:
        yield from audit_release.unknown(use["ops"], names)


def _remedy(
    data: Mapping[str, Any], path: Path, names: frozenset[str]
) -> Iterator[tuple[str, str]]:
    if data["id"] != path.stem:
        yield "name", f"its id is {data['id']}"
    yield from audit_release.unknown(data.get("ops", ()), names)
    for name in data["at"]:
        if name.partition(":")[0] not in data["sources"]:
            yield "no-evidence", f"it cites {name!r}, which is not among its sources"


def _overlay(file: _File, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    try:
        found = overlay.read(file.layer, file.path, None)
    except DatabaseError as error:
        yield "no-evidence", error.message.partition(": ")[2]
        return
    ops = [*found.operators, *(op for said in found.conditions for op in said["ops"])]
    yield from audit_release.unknown(ops, names)
