"""Which files a check of the database looks at, and what each must be."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db import (
    audit_by_hand,
    audit_release,
    audit_tables,
    environment,
    overlay,
    porting,
)
from opcheck.db.audit_words import Known, Told
from opcheck.db.layers import Layer
from opcheck.db.shape import Shape
from opcheck.db.shapes.additions import ADVISORY_FILE, OVERLAY_FILE
from opcheck.db.shapes.advice import DYNAMIC_FILE, REMEDY_FILE
from opcheck.db.shapes.chips import CHIPS_FILE
from opcheck.db.shapes.environment import ENVIRONMENT_FILE, TORCH_ENVIRONMENT_FILE
from opcheck.db.shapes.libraries import LIBRARY_FILE
from opcheck.db.shapes.porting import CUDA_NAMES_FILE, PORTING_FILE
from opcheck.db.shapes.release import RELEASE
from opcheck.db.shapes.tables import (
    CHOICES_FILE,
    COLLECTIVES_FILE,
    COMPOSITES_FILE,
    EARLIER_FILE,
    EXTENSIONS_FILE,
    HISTORY_FILE,
    OPERATORS_FILE,
)
from opcheck.db.shapes.vendor import VENDOR_FILE

Check = Callable[[Mapping[str, Any], Path, Known], Iterator[Told]]
_PYTORCH = "pytorch"


class Kind(Struct, frozen=True):
    """What files of one kind must be: their form, and what the form does not tell."""

    shape: Shape
    check: Check | None
    """None: of a release, which is looked at together with its vendor's file."""


_RELEASE = Kind(RELEASE, None)
_VENDOR = Kind(VENDOR_FILE, audit_release.vendor)
_OVERLAY = Kind(OVERLAY_FILE, audit_by_hand.overlay)
_BY_HAND = {
    overlay.ADVISORIES: Kind(ADVISORY_FILE, audit_by_hand.advisory),
    overlay.REMEDIES: Kind(REMEDY_FILE, audit_by_hand.remedy),
    overlay.DYNAMIC: Kind(DYNAMIC_FILE, audit_by_hand.size_rules),
    overlay.PORTING: Kind(PORTING_FILE, audit_by_hand.porting),
    overlay.ENVIRONMENT: Kind(ENVIRONMENT_FILE, audit_by_hand.porting),
    overlay.CHIPS: Kind(CHIPS_FILE, audit_by_hand.chips),
    overlay.SCHEMAS: Kind(LIBRARY_FILE, audit_by_hand.library),
}
"""Folder -> what its files must be."""
_COMMON = {
    (overlay.PORTING, porting.COMMON): Kind(CUDA_NAMES_FILE, audit_by_hand.cuda_names),
    (overlay.ENVIRONMENT, environment.COMMON): Kind(
        TORCH_ENVIRONMENT_FILE, audit_by_hand.torch_environment
    ),
}
"""Folder and stem -> what a file is that is of no vendor."""
_HISTORY = Kind(HISTORY_FILE, audit_tables.history)
_TABLES = {
    "history": _HISTORY,
    "extensions": Kind(EXTENSIONS_FILE, audit_tables.table),
    "operators": Kind(OPERATORS_FILE, audit_tables.table),
    "composites": Kind(COMPOSITES_FILE, audit_tables.table),
    "choices": Kind(CHOICES_FILE, audit_tables.table),
    "collectives": Kind(COLLECTIVES_FILE, audit_tables.collectives),
    "earlier": Kind(EARLIER_FILE, audit_tables.table),
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


def files(layer: Layer) -> Iterator[File]:
    """Every file of a layer that is read as part of the database."""
    if layer.origin:
        yield from (File(layer, path, _OVERLAY) for path in overlay.overlay_paths(layer))
    for folder, paths in overlay.vendor_files(layer).items():
        if folder != _PYTORCH or layer.origin:
            for stem, path in paths.items():
                yield File(layer, path, _VENDOR if stem == "vendor" else _RELEASE)
    for folder in overlay.READ_OF_EACH if layer.origin else overlay.BY_HAND:
        kind = _BY_HAND[folder]
        for path in _within(layer, folder):
            yield File(layer, path, _COMMON.get((folder, path.stem), kind))
    for path in () if layer.origin else _within(layer, _PYTORCH):
        name = path.stem.partition("@")[0]
        if name in _TABLES:
            yield File(layer, path, _TABLES[name])


def unread(layer: Layer, read: frozenset[Path]) -> Iterator[Path]:
    """YAML files of a layer, down to its folders' files, that are none of those ``read``."""
    for pattern in ("*.yaml", "*.yml", "*/*.yaml", "*/*.yml"):
        yield from sorted(path for path in layer.folder.glob(pattern) if path not in read)


def _within(layer: Layer, folder: str) -> list[Path]:
    return sorted((layer.folder / folder).glob("*.yaml"))
