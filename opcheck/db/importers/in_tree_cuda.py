"""Vendors whose kernels PyTorch registers under CUDA: what their importers share.

There is no key of AMD's own: a build for ROCm registers the same kernels under CUDA. So the list of
operators is one, and what differs is what each vendor's curated file states: operators tied to a
library that the build lacks, chips that a kernel refuses, dtypes.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers import (
    in_tree,
    in_tree_dtypes,
    in_tree_facts,
    torchvision_kernels,
    upstream,
)
from opcheck.db.importers.in_tree_facts import TORCH
from opcheck.db.importers.sources import load_yaml
from opcheck.db.importers.vendor_files import ReleaseFile, VendorFile
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError

_KEY = "CUDA"
_LIST = "list"
_TESTS = "tests"
_BOUND = "library_bound_ops@torch-2.13.0.yaml"
_REGISTERED = "registered"


class CudaVendor(Struct, frozen=True, dict=True):
    """One vendor: its folder's name, its curated file, and how sure its cells are."""

    name: str
    curated: Path
    tested: Mapping[str, str]
    """Confidence and method of what PyTorch's own tests say."""
    method: str = _REGISTERED
    """How its entries are known."""

    @cached_property
    def said(self) -> Mapping[str, Any]:
        """What the curated file says."""
        read: Mapping[str, Any] = load_yaml(self.curated)
        return read

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases, up to the newest that the curated file knows of, if it names one."""
        until = self.said.get("until")
        listed = in_tree.releases(sources / "pytorch")
        return tuple(r for r in listed if until is None or version_key(r) <= version_key(until))

    def release_file(self, sources: Path, release: str) -> str:
        """Give the text of one release's file."""
        known = self.releases(sources)
        if release not in known:
            message = f"{self.name} has no torch release {release}"
            raise DatabaseError(message, f"known releases: {', '.join(known) or 'none'}")
        conditions = (
            *self._facts(sources, release),
            *in_tree_dtypes.conditions(sources, release, self.tested),
            *torchvision_kernels.conditions(release, _KEY),
        )
        advisories = tuple(self.said.get("advisories", ()))
        return ReleaseFile(
            vendor=self.name,
            release=release,
            about=f"Operators that torch {release} registers under {_KEY}",
            torch=(major_minor(release),),
            sources=self._sources(sources / "pytorch", release, (*conditions, *advisories)),
            operators=self._operators(sources, release),
            conditions=tuple(map(self._sure, conditions)),
            advisories=advisories,
            key=_KEY,
            method=self.method,
        ).text()

    def vendor_file(self, pairing: Iterable[Mapping[str, str]], used: Mapping[str, Any]) -> str:
        """Give the text of ``vendor.yaml``; ``used`` are the sources that ``pairing`` cites."""
        said = self.said
        parts = (*said["chips"].values(), said["fallback"], *said.get("notes", ()))
        cited = {at.partition(":")[0] for part in parts for at in part["at"]}
        return VendorFile(
            vendor=self.name,
            name=said["name"],
            device_type="cuda",
            dispatch_key=_KEY,
            sources={**{name: said["sources"][name] for name in sorted(cited)}, **used},
            chips=said["chips"],
            fallback=said["fallback"],
            pairing=tuple(pairing),
            notes=tuple(said.get("notes", ())),
        ).text()

    def _operators(self, sources: Path, release: str) -> dict[str, Any]:
        """Overload -> entry."""
        listed = in_tree.declared(sources / "pytorch", release)
        own = {
            f"aten::{name}": {"at": f"{_LIST}:{kernel.line}", "impl": [kernel.name]}
            for name, kernel in in_tree.on_device(listed, _KEY).items()
        }
        return own | torchvision_kernels.entries(release, _KEY)

    def _facts(self, sources: Path, release: str) -> Iterator[dict[str, Any]]:
        declared = upstream.functions(sources / "pytorch", major_minor(release))
        known = {f"aten::{name}" for name in declared}
        bound = bound_operators(sources / "amd" / _BOUND)
        yield from in_tree_facts.conditions(self.said["facts"], release, known, bound)

    def _sources(
        self, folder: Path, release: str, saying: Iterable[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The list, and whatever the conditions and advisories cite."""
        tests = in_tree_facts.torch_source(folder, in_tree_dtypes.TESTED)
        own = {**self.said["sources"], _TESTS: {**tests, "path": in_tree_dtypes.PATH}}
        own |= torchvision_kernels.sources(release)
        used = {_LIST: in_tree.list_source(folder, release)}
        for name in sorted({at.partition(":")[0] for said in saying for at in said["at"]}):
            read_in = name.removeprefix(TORCH).removeprefix("-") or release
            used[name] = own.get(name) or in_tree_facts.torch_source(folder, read_in)
        return used

    def _sure(self, condition: dict[str, Any]) -> dict[str, Any]:
        """A condition, as sure as this vendor's cells can be."""
        doubt = {"confidence": "low", "method": self.method}
        return condition if self.method == _REGISTERED else {**condition, **doubt}


def bound_operators(path: Path) -> dict[str, list[str]]:
    """Library -> the operators whose CUDA kernels call it, as ``aten::…``."""
    found: dict[str, list[str]] = {}
    for row in load_yaml(path)["ops"]:
        if row["cuda_dispatch"]:
            found.setdefault(row["library"], []).append(f"aten::{row['op']}")
    return found
