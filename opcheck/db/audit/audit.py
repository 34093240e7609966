"""A check of every file of the database - which there are, form, duplicates, digests."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.audit import content, model_lists, release
from opcheck.db.audit.content import FileProblem, Known
from opcheck.db.by_hand import environment, libraries, overlays, porting, target_names
from opcheck.db.files import digests, document, yaml_reader
from opcheck.db.files.content import BoundsError, bounded
from opcheck.db.files.document import Document
from opcheck.db.files.layers import Layer
from opcheck.db.schema.additions import (
    ADVISORY_FILE,
    DYNAMIC_FILE,
    LIBRARY_FILE,
    OVERLAY_FILE,
    REMEDY_FILE,
)
from opcheck.db.schema.by_hand import (
    CHIPS_FILE,
    CUDA_NAMES_FILE,
    ENVIRONMENT_FILE,
    PORTING_FILE,
    TORCH_ENVIRONMENT_FILE,
)
from opcheck.db.schema.checks import Shape
from opcheck.db.schema.model_lists import MODELS_FILE
from opcheck.db.schema.tables import (
    CHOICES_FILE,
    COLLECTIVES_FILE,
    COMPILERS_FILE,
    COMPOSITES_FILE,
    DETERMINISTIC_FILE,
    EARLIER_FILE,
    EXTENSIONS_FILE,
    HISTORY,
    HISTORY_FILE,
    NAMES_FILE,
    OPERATORS_FILE,
    SPARSE_FILE,
    TRITON_FILE,
)
from opcheck.db.schema.target_names import OTHER_VENDORS_FILE, TARGET_NAMES_FILE
from opcheck.db.schema.vendor import RELEASE, VENDOR_FILE
from opcheck.db.store import Database
from opcheck.errors import DatabaseError
from opcheck.model.database import Audit, Problem

Check = Callable[[Mapping[str, Any], Path, Known], Iterator[FileProblem]]
_PYTORCH = "pytorch"


class Kind(Struct, frozen=True):
    """What files of one kind must be: their form, and what the form does not tell."""

    shape: Shape
    check: Check | None
    """None: of a release, which is looked at together with its vendor's file."""


_RELEASE = Kind(RELEASE, None)
_VENDOR = Kind(VENDOR_FILE, release.vendor)
_OVERLAY = Kind(OVERLAY_FILE, content.overlay)
_BY_HAND = {
    overlays.ADVISORIES: Kind(ADVISORY_FILE, content.advisory),
    overlays.REMEDIES: Kind(REMEDY_FILE, content.remedy),
    overlays.DYNAMIC: Kind(DYNAMIC_FILE, content.size_rules),
    overlays.PORTING: Kind(PORTING_FILE, content.porting),
    overlays.ENVIRONMENT: Kind(ENVIRONMENT_FILE, content.porting),
    overlays.CHIPS: Kind(CHIPS_FILE, content.chips),
    overlays.NAMES: Kind(TARGET_NAMES_FILE, content.target_names),
    overlays.MODELS: Kind(MODELS_FILE, model_lists.problems),
    overlays.SCHEMAS: Kind(LIBRARY_FILE, content.library),
}
"""Folder -> what its files must be."""
_COMMON_KINDS = {
    (overlays.PORTING, porting.COMMON): Kind(CUDA_NAMES_FILE, content.cuda_names),
    (overlays.ENVIRONMENT, environment.COMMON): Kind(
        TORCH_ENVIRONMENT_FILE, content.torch_environment
    ),
    (overlays.NAMES, target_names.OTHERS): Kind(OTHER_VENDORS_FILE, content.other_vendors),
}
"""Folder and stem -> what a file is that is of no vendor."""
_HISTORY = Kind(HISTORY_FILE, content.history)
_TABLES = {
    "history": _HISTORY,
    "extensions": Kind(EXTENSIONS_FILE, content.table),
    "operators": Kind(OPERATORS_FILE, content.table),
    "composites": Kind(COMPOSITES_FILE, content.table),
    "choices": Kind(CHOICES_FILE, content.table),
    "collectives": Kind(COLLECTIVES_FILE, content.collectives),
    "compilers": Kind(COMPILERS_FILE, content.compilers),
    "deterministic": Kind(DETERMINISTIC_FILE, content.deterministic),
    "earlier": Kind(EARLIER_FILE, content.table),
    "sparse": Kind(SPARSE_FILE, content.sparse),
    "triton": Kind(TRITON_FILE, content.triton),
    "names": Kind(NAMES_FILE, content.names),
}
"""Files of PyTorch's tables, by what stands before ``@``."""


class File(Struct, frozen=True):
    """One file with what it must be."""

    layer: Layer
    path: Path
    kind: Kind

    @property
    def name(self) -> str:
        """As people are told of it."""
        return name_of(self.layer, self.path)


def name_of(layer: Layer, path: Path) -> str:
    """A file of a layer, as people are told of it."""
    return layer.of(path) or path.relative_to(layer.folder).as_posix()


def checked_files(layer: Layer) -> Iterator[File]:
    """Every file of a layer that is read as part of the database."""
    if layer.origin:
        yield from (File(layer, path, _OVERLAY) for path in overlays.overlay_paths(layer))
    for folder, paths in overlays.vendor_files(layer).items():
        if folder != _PYTORCH or layer.origin:
            for stem, path in paths.items():
                yield File(layer, path, _VENDOR if stem == "vendor" else _RELEASE)
    for folder in overlays.READ_OF_EACH if layer.origin else overlays.BY_HAND:
        kind = _BY_HAND[folder]
        for path in overlays.files_by_hand(layer, folder):
            yield File(layer, path, _COMMON_KINDS.get((folder, path.stem), kind))
    for path in () if layer.origin else overlays.files_by_hand(layer, _PYTORCH):
        name = path.stem.partition("@")[0]
        if name in _TABLES:
            yield File(layer, path, _TABLES[name])


def unread(layer: Layer, read: frozenset[Path]) -> Iterator[Path]:
    """YAML files of a layer, down to its folders' files, that are none of those ``read``."""
    for place in ("*", "*/*", f"{overlays.ADVISORIES}/*/*"):
        for ending in (".yaml", ".yml"):
            found = layer.folder.glob(f"{place}{ending}")
            yield from sorted(path for path in found if path not in read)


_HEAD = 500
"""Bytes in which a file says whether it was written by hand."""
_COMMON = "vendor.yaml"


def audit(database: Database) -> Audit:
    """Look at every file of every layer, from anew: no index is asked."""
    files = [file for layer in database.layers for file in checked_files(layer)]
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
        libraries.require_known(file.path, found.data)
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
        repeated = list(yaml_reader.repeated_keys(document.content(file.path)))
    except (DatabaseError, BoundsError, yaml.YAMLError):
        return []
    text = "the key {!r} stands here for a second time"
    return [Problem(file.name, line, "duplicate", text.format(key)) for line, key in repeated]


def _unread(layers: Iterable[Layer], files: Iterable[File]) -> Iterator[Problem]:
    """Files that look as if they were read, and are not."""
    read = frozenset(file.path for file in files)
    for layer in layers:
        for path in unread(layer, read):
            text = "nothing reads it: no vendor and no part of the database has this name"
            yield Problem(name_of(layer, path), 0, "unread", text)


def _edits(layers: Iterable[Layer]) -> Iterator[Problem]:
    """Generated files that are not what their importer wrote, or that none has noted."""
    for layer in layers:
        for folder in sorted({path.parent for path in layer.folder.glob("*/*.yaml")}):
            noted = digests.noted(folder)
            if folder.name in overlays.BY_HAND or (layer.origin and not noted):
                continue
            present = digests.of_files(folder)
            for name in sorted(noted.keys() | present.keys()):
                told = _edited(folder / name, noted.get(name), present.get(name))
                if told:
                    yield Problem(name_of(layer, folder / name), 0, *told)


def _edited(path: Path, noted: str | None, present: str | None) -> tuple[str, str] | None:
    """Code and sentence of what is wrong with a file of these digests; None: nothing."""
    if present is None:
        return "missing", f"{digests.NAME} names a file that is not there"
    if noted is None:
        generated = b"do not edit" in bounded(path)[:_HEAD]
        return ("not-noted", f"{digests.NAME} has no digest of it") if generated else None
    if noted != present:
        return (
            "edited",
            f"it is not what its importer wrote: {digests.NAME} has another digest",
        )
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
        told = release.release(data, file.path, known, common.data if common else None)
    found = list(told)
    lines = document.lines_of(file.path, [each.where for each in found])
    return (_placed(file, each, line) for each, line in zip(found, lines, strict=True))


def _placed(file: File, told: FileProblem, line: int) -> Problem:
    return Problem(file.name, line if told.where else 0, told.code, told.text)
