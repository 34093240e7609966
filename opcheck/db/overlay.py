"""Overlay files: what a team or a vendor adds to the targets of the database, or corrects.

A folder of them may also hold whole vendors and releases, in the form that the database has, and
advisories.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from opcheck.db import document
from opcheck.db.addition import Addition
from opcheck.db.document import Document
from opcheck.db.layers import Layer
from opcheck.db.shapes.additions import OVERLAY_FILE
from opcheck.errors import DatabaseError

HINT = "correct the overlay, or leave it out"
ADVISORIES, REMEDIES, PORTING, DYNAMIC = "advisories", "remedies", "lint", "dynamic"
SCHEMAS, ENVIRONMENT, CHIPS = "schemas", "environment", "chips"
BY_HAND = (ADVISORIES, REMEDIES, PORTING, DYNAMIC, SCHEMAS, ENVIRONMENT, CHIPS)
"""Folders of a layer that no vendor has."""
READ_OF_EACH = (ADVISORIES, REMEDIES, DYNAMIC, SCHEMAS)
"""Those that are read of every layer; the others only of the database itself."""
_SOURCE = {"ref": "", "commit": "", "path": ""}
"""What an overlay's source may leave out."""


def overlays(layer: Layer, cache: Path | None) -> Iterator[Addition]:
    """What the overlay files of a layer say, by file name."""
    return (read(layer, path, cache) for path in overlay_paths(layer))


def overlay_paths(layer: Layer) -> Sequence[Path]:
    """The overlay files of a layer, by name."""
    return sorted([*layer.folder.glob("*.yaml"), *layer.folder.glob("*.yml")])


def read(layer: Layer, path: Path, cache: Path | None) -> Addition:
    """What one overlay file says."""
    found = document.read(path, OVERLAY_FILE, cache, HINT)
    return _addition(replace(found, origin=layer.of(path)))


def vendor_files(layer: Layer) -> Mapping[str, Mapping[str, Path]]:
    """Files of each vendor that a layer has, by stem, in the order of their names."""
    found = {}
    for folder in sorted(path for path in layer.folder.iterdir() if path.is_dir()):
        files = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
        if files and folder.name not in BY_HAND and (layer.origin or "vendor" in files):
            found[folder.name] = files
    return found


def require_something(layer: Layer) -> None:
    """Refuse a folder that adds nothing: it is not the one that was meant."""
    by_hand = (path for name in READ_OF_EACH for path in (layer.folder / name).glob("*.yaml"))
    if not (overlay_paths(layer) or vendor_files(layer) or any(by_hand)):
        message = f"cannot add the database {layer.origin}: it holds nothing that opcheck reads"
        raise DatabaseError(message, "give a folder of overlay files, vendors or advisories")


def require_known(added: Addition, vendors: Mapping[str, Collection[str]]) -> None:
    """Refuse an overlay of a vendor or chip that there is not; ``vendors`` have their chips."""
    if added.vendor not in vendors:
        known = f"known: {', '.join(vendors)}"
        raise DatabaseError(f"{added.origin}: there is no vendor {added.vendor!r}", known)
    chips = vendors[added.vendor]
    entries = [said for listed in added.operators.values() for said in listed]
    for said in (added.where, *entries, *added.conditions, *added.withdrawn):
        for chip in said.get("chips", ()):
            if chip not in chips:
                message = f"{added.origin}: there is no chip {chip!r} of {added.vendor}"
                raise DatabaseError(message, f"known: {', '.join(chips)}")


def checked(found: Document, folder: str) -> Document:
    """A vendor's or release's file from an overlay: it says why, and its evidence says so."""
    if not str(found.data.get("reason", "")).strip():
        message = f"{found.path}:1: expected the key 'reason', which says why the overlay has it"
        raise DatabaseError(message, HINT)
    if found.data["vendor"] != folder:
        message = f"{found.path}:1: expected vendor {folder}, found {found.data['vendor']!r}"
        raise DatabaseError(message, HINT)
    sources = found.data["sources"].items()
    data = {
        **found.data,
        "sources": {name: {**source, "origin": found.origin} for name, source in sources},
    }
    return replace(found, data=data)


def _addition(found: Document) -> Addition:
    data, method = found.data, found.data["method"]
    for at, what in _citations(data):
        if at.partition(":")[0] not in data["sources"]:
            line = document.line_of(found.path, what)
            message = f"{found.path}:{line}: {at!r} cites none of the file's sources"
            raise DatabaseError(message, HINT)
    return Addition(
        vendor=data["vendor"],
        origin=found.origin,
        reason=" ".join(data["reason"].split()),
        digest=found.digest,
        method=method,
        sources={name: {**_SOURCE, **source} for name, source in data["sources"].items()},
        where={key: data[key] for key in ("chips", "releases", "torch") if key in data},
        operators={op: _variants(said, method) for op, said in data.get("operators", {}).items()},
        conditions=[{"method": method, **said} for said in data.get("conditions", ())],
        withdrawn=data.get("withdrawn", ()),
    )


def _variants(said: Any, method: str) -> list[dict[str, Any]]:
    listed = said if isinstance(said, list) else [said]
    return [{"method": method, **variant} for variant in listed]


def _citations(data: Mapping[str, Any]) -> Iterable[tuple[str, tuple[str | int, ...]]]:
    """Every citation of a file, and where it stands."""
    for op, said in data.get("operators", {}).items():
        for variant in said if isinstance(said, list) else [said]:
            yield variant["at"], ("operators", op)
    for section in ("conditions", "withdrawn"):
        for number, said in enumerate(data.get(section, ())):
            yield from ((at, (section, number)) for at in said["at"])
