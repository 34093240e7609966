"""NVIDIA: kernels that PyTorch registers under CUDA, release by release of torch."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer
from opcheck.db.importers.shared import in_tree
from opcheck.db.importers.shared.cuda import CudaVendor

_VENDOR = CudaVendor(
    "nvidia",
    Path(__file__).with_name("nvidia_code.yaml"),
    {"confidence": "high", "method": "tested"},
    wheels=True,
)


class NvidiaImporter(Importer):
    """Reads PyTorch's operator lists, and pairs each release with the libraries of its wheel."""

    name = _VENDOR.name

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases that the sources hold the list of."""
        return _VENDOR.releases(sources)

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one torch release."""
        return _VENDOR.release_file(sources, release)

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        known = self.releases(sources)
        wheels = {f"wheel-{release}": _wheel(release) for release in known if _built(release)}
        return {"vendor.yaml": _VENDOR.vendor_file(_pairs(known), wheels)}


def _pairs(releases: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for release in releases:
        if built := _built(release):
            row = {"torch": release, "release": release, "at": f"wheel-{release}"}
            yield {**row, "packages": built["packages"]}


def _wheel(release: str) -> dict[str, str]:
    built = _built(release)
    path = f"{built['wheel']}/METADATA"
    return {"repo": "torch", "ref": release, "commit": "", "path": path, "date": built["date"]}


def _built(release: str) -> Mapping[str, Any]:
    return in_tree.builds().get(release, {})
