"""Hygon: a hipified torch of which no list is public, so that every cell is inferred from ROCm."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer
from opcheck.db.importers.shared.cuda import CudaVendor

_INFERRED = {"confidence": "low", "method": "inferred"}
_VENDOR = CudaVendor(
    "hygon",
    Path(__file__).with_name("hygon_code.yaml"),
    _INFERRED,
    _INFERRED["method"],
    own_kernels=True,
)


class HygonImporter(Importer):
    """Reads PyTorch's operator lists, up to the newest torch that any source pairs with DTK."""

    name = _VENDOR.name

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases that the sources hold the list of."""
        return _VENDOR.releases(sources)

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one torch release."""
        return _VENDOR.release_file(sources, release)

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        pairing = _VENDOR.said["pairing"]
        cited = sorted({row["at"] for row in pairing.values()})
        used = {name: _VENDOR.said["sources"][name] for name in cited}
        return {"vendor.yaml": _VENDOR.vendor_file(_pairs(pairing), used)}


def _pairs(pairing: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    for release, row in pairing.items():
        pair = {"torch": row.get("torch", release), "release": release, "at": row["at"]}
        yield {**pair, "packages": {"dtk": row["dtk"]}} if "dtk" in row else pair
