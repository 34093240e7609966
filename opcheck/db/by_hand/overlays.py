"""Overlay files of a team or vendor, and how they add to or correct a release."""

import os
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.db.files import document
from opcheck.db.files.document import Document
from opcheck.db.files.layers import Layer
from opcheck.db.library_releases import LibraryReleases
from opcheck.db.reading import Citations
from opcheck.db.schema.additions import OVERLAY_FILE
from opcheck.db.versions import covers
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import Target
from opcheck.model.verdict import Method

if TYPE_CHECKING:
    from opcheck.model.database import Statement


Said = Mapping[str, Any]
REGISTERS, REGISTERS_NOT = "registers a kernel", "registers no kernel"


class Addition(Struct, frozen=True):
    """What one file adds to the releases of one vendor, or takes from them.

    The parts are as a release's file has them; citations name ``sources``.
    """

    vendor: str
    origin: str
    """The overlay that the file belongs to; "" for the database itself."""
    reason: str
    digest: str
    method: str
    """How what it says is known, where an item of it does not tell."""
    sources: Mapping[str, Said]
    where: Said = field(default_factory=dict)
    """``chips``, ``releases`` and ``torch`` that it is limited to."""
    operators: Mapping[str, Sequence[Said]] = field(default_factory=dict)
    conditions: Sequence[Said] = ()
    """:class:`Lines` all hold wherever the addition does, and are not made to ask them."""
    withdrawn: Sequence[Said] = ()
    library: LibraryReleases | None = None
    """Whose releases ``version`` of its items is about."""

    def concerns(self, target: Target) -> bool:
        """Whether it says anything of a target."""
        return self.vendor == target.vendor and holds(self.where, target)

    def entry(self, op: str, target: Target) -> Said | None:
        """What it says of an overload's kernel; None: nothing."""
        return next((said for said in self.operators.get(op, ()) if self.holds(said, target)), None)

    def holds(self, said: Said, target: Target) -> bool:
        """Whether one of its items is about a target, and about its release of the library."""
        if self.library is None or "version" not in said:
            return holds(said, target)
        return holds(said, target) and covers(said["version"], self.library.of(target))


def holds(where: Said, target: Target) -> bool:
    """Whether a target is among the chips, releases and torch versions that something names."""
    return (
        ("chips" not in where or target.chip in where["chips"])
        and ("releases" not in where or covers(where["releases"], target.sdk))
        and ("torch" not in where or covers(where["torch"], target.torch))
    )


def statements(
    release: Document, additions: Iterable[Addition], target: Target, op: str
) -> "tuple[Statement, ...]":
    """What each layer says of an overload, the last one holds; () where no overlay has a say."""
    found = [
        statement
        for addition in additions
        if addition.origin and addition.concerns(target)
        for statement in _statements(addition, target, op)
    ]
    if not found:
        return ()
    listed = op in release.data["operators"]
    from opcheck.model.database import Statement

    return (Statement(release.origin, REGISTERS if listed else REGISTERS_NOT, "", ()), *found)


def _statements(addition: Addition, target: Target, op: str) -> "Iterator[Statement]":
    from opcheck.model.database import Statement

    entry = addition.entry(op, target)
    told: list[tuple[str, Said]] = []
    if entry is not None:
        told.append((REGISTERS if entry.get("registered", True) else REGISTERS_NOT, entry))
    for verb, listed in (("withdraws", addition.withdrawn), ("adds", addition.conditions)):
        told += [(f"{verb} {s['code']}", s) for s in listed if op in s["ops"] and holds(s, target)]
    sources = {name: {**s, "origin": addition.origin} for name, s in addition.sources.items()}
    reason = " ".join(addition.reason.split())
    for says, said in told:
        at = [said["at"]] if isinstance(said["at"], str) else said["at"]
        method = Method(said.get("method", addition.method))
        yield Statement(addition.origin, says, reason, Citations(sources).all(at, method))


HINT = Sentence("correct the overlay, or leave it out")
ADVISORIES, REMEDIES, PORTING, DYNAMIC = "advisories", "remedies", "lint", "dynamic"
SCHEMAS, ENVIRONMENT, CHIPS, NAMES = "schemas", "environment", "chips", "names"
MODELS = "models"
BY_HAND = (ADVISORIES, REMEDIES, PORTING, DYNAMIC, SCHEMAS, ENVIRONMENT, CHIPS, NAMES, MODELS)
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
    for name in sorted(item.name for item in os.scandir(layer.folder) if item.is_dir()):
        folder = layer.folder / name
        listed = [] if name in BY_HAND else sorted(os.listdir(folder))
        files = {
            file.removesuffix(".yaml"): folder / file for file in listed if file.endswith(".yaml")
        }
        if files and (layer.origin or "vendor" in files):
            found[name] = files
    return found


def files_by_hand(layer: Layer, folder: str) -> list[Path]:
    """The files that are read of a folder that no vendor has; of advisories also a vendor's own."""
    found = layer.folder / folder
    inside = found.glob("*/*.yaml") if folder == ADVISORIES else ()
    return sorted([*found.glob("*.yaml"), *inside])


def require_something(layer: Layer) -> None:
    """Refuse a folder that adds nothing: it is not the one that was meant."""
    by_hand = (files_by_hand(layer, name) for name in READ_OF_EACH)
    if not (overlay_paths(layer) or vendor_files(layer) or any(by_hand)):
        message = Sentence(
            "cannot add the database {origin}: it holds nothing that opcheck reads",
            origin=layer.origin,
        )
        raise DatabaseError(
            message, Sentence("give a folder of overlay files, vendors or advisories")
        )


def require_known(added: Addition, vendors: Mapping[str, Collection[str]]) -> None:
    """Refuse an overlay of a vendor or chip that there is not; ``vendors`` have their chips."""
    if added.vendor not in vendors:
        known = Sentence("known: {text}", text=", ".join(vendors))
        raise DatabaseError(
            Sentence(
                "{text}: there is no vendor {vendor}", text=added.origin, vendor=repr(added.vendor)
            ),
            known,
        )
    chips = vendors[added.vendor]
    entries = [said for listed in added.operators.values() for said in listed]
    for said in (added.where, *entries, *added.conditions, *added.withdrawn):
        for chip in said.get("chips", ()):
            if chip not in chips:
                message = Sentence(
                    "{text}: there is no chip {chip} of {vendor}",
                    text=added.origin,
                    chip=repr(chip),
                    vendor=added.vendor,
                )
                raise DatabaseError(message, Sentence("known: {text}", text=", ".join(chips)))


def checked(found: Document, folder: str) -> Document:
    """A vendor's or release's file from an overlay: it says why, and its evidence says so."""
    if not str(found.data.get("reason", "")).strip():
        message = Sentence(
            "{text_file}:1: expected the key 'reason', which says why the overlay has it",
            text_file=found.path,
        )
        raise DatabaseError(message, HINT)
    if found.data["vendor"] != folder:
        message = Sentence(
            "{text_file}:1: expected vendor {vendor}, found {text}",
            text_file=found.path,
            vendor=folder,
            text=repr(found.data["vendor"]),
        )
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
            message = Sentence(
                "{text_file}:{count_line}: {text} cites none of the file's sources",
                text_file=found.path,
                count_line=line,
                text=repr(at),
            )
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
