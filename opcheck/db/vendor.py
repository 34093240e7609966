"""One vendor's part of the database: what holds for all its releases, and the releases' files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.by_hand import overlays
from opcheck.db.files import digests, document
from opcheck.db.files.document import Document
from opcheck.db.schema.checks import Shape
from opcheck.db.schema.vendor import RELEASE, VENDOR_FILE
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import TargetKind

_COMMON = "vendor"
"""Stem of the file with what holds for all of a vendor's releases."""


class Place(Struct, frozen=True):
    """Where a file is, and the overlay that it belongs to; "" for the database itself."""

    path: Path
    origin: str = ""


@dataclass(frozen=True)
class Vendor:
    """One vendor's folder: what holds for all its releases, and the releases' files."""

    document: Document
    files: Mapping[str, Place]
    """Release -> file, oldest first."""
    cache: Path | None
    _read: dict[str, Document] = field(default_factory=dict, repr=False, compare=False)
    _served: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    _paired: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)
    _edited: dict[str, tuple[Path, ...]] = field(default_factory=dict, repr=False, compare=False)
    _noted: dict[str, Mapping[str, str]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Folder name: ``ascend``."""
        return str(self.document.data["vendor"])

    @property
    def chips(self) -> Mapping[str, Mapping[str, object]]:
        """Chip id -> what the vendor says of it."""
        chips: Mapping[str, Mapping[str, object]] = self.document.data["chips"]
        return chips

    @property
    def kind(self) -> TargetKind:
        """What its targets are."""
        return TargetKind(self.document.data.get("kind", TargetKind.DEVICE))

    def releases(self, chip: str) -> tuple[str, ...]:
        """Releases that know a chip, oldest first."""
        known = self.chips[chip]
        since = version_key(str(known.get("since", "0")))
        until = version_key(str(known["until"])) if "until" in known else None
        return tuple(
            release
            for release in self.files
            if since <= version_key(release) and (until is None or version_key(release) <= until)
        )

    def release(self, name: str) -> Document:
        """The checked file of one release."""
        if name not in self._read:
            place = self.files[name]
            self._read[name] = read_file(place, RELEASE, self.name, self.cache)
        return self._read[name]

    def listed(self, release: str) -> tuple[str, ...]:
        """The torch versions that the release's lists speak of, oldest first."""
        return tuple(self.release(release).data["torch"])

    def served(self, release: str) -> tuple[str, ...]:
        """Of those, the ones that the vendor pairs a package with; all, if it pairs none."""
        if release not in self._served:
            listed, paired = self.listed(release), self.paired(release)
            served = tuple(torch for torch in listed if torch in paired) or listed
            self._served[release] = served
        return self._served[release]

    def paired(self, release: str) -> frozenset[str]:
        """The torch versions, ``major.minor``, that the vendor's table pairs with a release."""
        if release not in self._paired:
            suffix = f"-{release}"
            self._paired[release] = frozenset(
                major_minor(row["torch"])
                for row in self.document.data["pairing"]
                if row.get("release") == release or row.get("branch", "").endswith(suffix)
            )
        return self._paired[release]

    def edited(self, release: str) -> tuple[Path, ...]:
        """Files behind a release that differ from what an importer noted of them."""
        if release not in self._edited:
            found = (self.document, self.release(release))
            self._edited[release] = tuple(file.path for file in found if self._is_edited(file))
        return self._edited[release]

    def _is_edited(self, found: Document) -> bool:
        """Whether a generated file is no longer what its importer wrote."""
        folder, name = os.path.split(found.place)
        if folder not in self._noted:
            self._noted[folder] = digests.noted(folder)
        return self._noted[folder].get(name, found.digest) != found.digest


def read_vendor(name: str, places: Mapping[str, Place], cache: Path | None) -> Vendor:
    """A vendor of these files, by stem, of which one must be ``vendor.yaml``.

    Raises:
        DatabaseError: none is, or it cannot be read.
    """
    if _COMMON not in places:
        path = next(iter(places.values())).path.parent
        message = Sentence(
            "{text} has releases of a vendor that the database does not know", text=path
        )
        raise DatabaseError(
            message, Sentence("add {text}.yaml, or name it as its vendor", text=path / _COMMON)
        )
    common = read_file(places[_COMMON], VENDOR_FILE, name, cache)
    releases = sorted(places.keys() - {_COMMON}, key=version_key)
    return Vendor(common, {release: places[release] for release in releases}, cache)


def read_file(place: Place, shape: Shape, vendor: str, cache: Path | None) -> Document:
    """Read a vendor's or release's file, whose evidence names the overlay that has it, if any."""
    if not place.origin:
        return document.read(place.path, shape, cache)
    found = document.read(place.path, shape, cache, overlays.HINT)
    return overlays.checked(replace(found, origin=place.origin), vendor)
