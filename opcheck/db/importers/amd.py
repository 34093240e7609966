"""AMD: the same kernels under CUDA, built for ROCm; what differs is by library and by chip."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer
from opcheck.db.importers.shared import in_tree
from opcheck.db.importers.shared.cuda import CudaVendor

_VENDOR = CudaVendor(
    "amd",
    Path(__file__).with_name("amd_code.yaml"),
    {"confidence": "medium", "method": "tested"},
)
"""PyTorch's tests take the dtypes of CUDA for ROCm too, unless an operator says otherwise."""


class AmdImporter(Importer):
    """Reads PyTorch's operator lists, and what is known of the ROCm that a release is built for."""

    name = _VENDOR.name

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases that the sources hold the list of."""
        return _VENDOR.releases(sources)

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one torch release."""
        return _VENDOR.release_file(sources, release)

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        said, known = _VENDOR.said, self.releases(sources)
        cited = {row["at"] for row in said["pairing"].values()}
        used = {name: said["sources"][name] for name in sorted(cited)}
        lists = {f"torch-{r}": in_tree.list_source(sources / "pytorch", r) for r in known}
        return {"vendor.yaml": _VENDOR.vendor_file(_pairs(known), {**used, **lists})}


def _pairs(releases: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Every release of torch is one of ROCm's builds; of some it is known for which ROCm."""
    for release in releases:
        row = _VENDOR.said["pairing"].get(release, {})
        pair = {"torch": release, "release": release, "at": row.get("at", f"torch-{release}")}
        yield {**pair, "packages": {"rocm": row["rocm"]}} if row else pair
