"""The database as a whole: which targets there are, and the matrix of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from opcheck.db import document, index, shapes
from opcheck.db.document import Document
from opcheck.db.matrix import build_matrix
from opcheck.db.tables import OperatorFacts, Tables
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError, UsageError
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import Target, TargetSpec, target_name

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Vendor:
    """One vendor's folder: what holds for all its releases, and the releases' files."""

    document: Document
    files: Mapping[str, Path]
    """Release -> file, oldest first."""
    cache: Path | None
    _read: dict[str, Document] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Folder name: ``ascend``."""
        return str(self.document.data["vendor"])

    @property
    def chips(self) -> Mapping[str, Mapping[str, object]]:
        """Chip id -> what the vendor says of it."""
        chips: Mapping[str, Mapping[str, object]] = self.document.data["chips"]
        return chips

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
            self._read[name] = document.read(self.files[name], shapes.RELEASE, self.cache)
        return self._read[name]

    def listed(self, release: str) -> tuple[str, ...]:
        """The torch versions that the release's lists speak of, oldest first."""
        return tuple(self.release(release).data["torch"])

    def served(self, release: str) -> tuple[str, ...]:
        """Of those, the ones that the vendor pairs a package with; all, if it pairs none."""
        listed = self.listed(release)
        paired = tuple(torch for torch in listed if torch in self.paired(release))
        return paired or listed

    def paired(self, release: str) -> frozenset[str]:
        """The torch versions, ``major.minor``, that the vendor's table pairs with a release."""
        rows = self.document.data["pairing"]
        suffix = f"-{release}"
        return frozenset(
            major_minor(row["torch"])
            for row in rows
            if row.get("release") == release or row.get("branch", "").endswith(suffix)
        )


@dataclass(frozen=True)
class Database:
    """Vendor data under one folder, read on demand."""

    root: Path
    cache: Path | None = None
    """Folder of the index of compiled files; None: none is used."""
    _matrices: dict[Target, SupportMatrix] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def open(cls, root: Path | None = None, *, cached: bool = True) -> "Database":
        """Open ``root``, or the copy that this package carries, or the one of its checkout."""
        candidates = (root,) if root else (_PACKAGE / "_compat_db", _PACKAGE.parent / "compat_db")
        found = next((path for path in candidates if path.is_dir()), None)
        if found is None:
            looked = ", ".join(str(path) for path in candidates)
            raise DatabaseError(f"no database of operators: {looked}", "install opcheck again")
        return cls(found, index.default_folder() if cached else None)

    @cached_property
    def vendors(self) -> Mapping[str, Vendor]:
        """Every vendor that has a folder, by name."""
        found = {}
        for path in sorted(self.root.glob("*/vendor.yaml")):
            common = document.read(path, shapes.VENDOR_FILE, self.cache)
            names = {p.stem: p for p in path.parent.glob("*.yaml") if p.name != path.name}
            ordered = {name: names[name] for name in sorted(names, key=version_key)}
            found[common.data["vendor"]] = Vendor(common, ordered, self.cache)
        if not found:
            raise DatabaseError(f"{self.root} holds no vendor", "restore it from the release")
        return found

    @cached_property
    def tables(self) -> Tables:
        """PyTorch's own tables."""
        return Tables(self.root / "pytorch", self.cache)

    def names(self) -> tuple[str, ...]:
        """Short name of every target, sorted."""
        return tuple(
            sorted(target_name(v.name, chip) for v in self.vendors.values() for chip in v.chips)
        )

    def targets(self) -> tuple[Target, ...]:
        """Every chip at its newest release and the newest torch which that serves."""
        return tuple(self.resolve(TargetSpec(name)) for name in self.names())

    def releases(self, name: str) -> tuple[Target, ...]:
        """Every release of one target with every torch it serves, oldest first."""
        vendor, chip = self._chip(name)
        return tuple(
            self._target(vendor, chip, release, torch)
            for release in vendor.releases(chip)
            for torch in vendor.served(release)
        )

    def resolve(self, spec: TargetSpec) -> Target:
        """The target that ``spec`` names; its newest release and torch where it names none."""
        vendor, chip = self._chip(spec.name)
        releases = vendor.releases(chip)
        if not releases:
            raise DatabaseError(f"no release of {spec.name} in {self.root}")
        release = spec.sdk or releases[-1]
        if release not in releases:
            known = ", ".join(reversed(releases))
            raise UsageError(f"unknown release {release!r} of {spec.name}", f"known: {known}")
        torch = major_minor(spec.torch) if spec.torch else vendor.served(release)[-1]
        if torch not in vendor.listed(release):
            known = ", ".join(reversed(vendor.listed(release)))
            raise UsageError(
                f"{spec.name}@{release} does not serve torch {spec.torch}", f"it serves: {known}"
            )
        return self._target(vendor, chip, release, torch)

    def matrix(self, target: Target) -> SupportMatrix:
        """Everything known about one target."""
        if target not in self._matrices:
            vendor = self._vendor(target.vendor)
            release = vendor.release(target.sdk)
            paired = target.torch in vendor.paired(target.sdk)
            matrix = build_matrix(target, vendor.document, release, self.tables, paired=paired)
            self._matrices[target] = matrix
        return self._matrices[target]

    def chip_name(self, target: Target) -> str:
        """What the vendor calls a target's chip: ``Ascend 910B``."""
        return str(self._vendor(target.vendor).chips[target.chip]["name"])

    def digest(self, target: Target) -> str:
        """sha256 over the files that say something about a target, first 16 hex digits."""
        return self.matrix(target).database_digest

    def operators(self, torch_version: str) -> Mapping[str, OperatorFacts]:
        """What PyTorch itself has for each overload; the table nearest to ``torch_version``."""
        return self.tables.operators(torch_version)

    def composites(
        self, torch_version: str, device: str
    ) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """What composites run as, one tuple of overloads a branch; empty if never recorded."""
        return self.tables.composites(torch_version, device)

    def history(self, op: str) -> tuple[str, str] | None:
        """First and last torch ``major.minor`` that has an overload; None: not known."""
        return self.tables.history.get(op)

    def registered_in(self, name: str, op: str) -> tuple[str, ...]:
        """Releases of a target, oldest first, that register ``op`` for some torch version."""
        vendor, chip = self._chip(name)
        return tuple(
            release
            for release in vendor.releases(chip)
            if op in vendor.release(release).data["operators"]
        )

    def _vendor(self, name: str) -> Vendor:
        if name not in self.vendors:
            raise UsageError(f"unknown vendor {name!r}", f"known: {', '.join(self.vendors)}")
        return self.vendors[name]

    def _chip(self, name: str) -> tuple[Vendor, str]:
        for vendor in self.vendors.values():
            for chip in vendor.chips:
                if target_name(vendor.name, chip) == name:
                    return vendor, chip
        raise UsageError(f"unknown target {name!r}", _nearest(name, self.names()))

    def _target(self, vendor: Vendor, chip: str, release: str, torch: str) -> Target:
        device_type = str(vendor.document.data["device_type"])
        return Target(vendor.name, chip, release, torch, device_type)


def _nearest(name: str, known: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else f"known targets: {', '.join(known)}"
