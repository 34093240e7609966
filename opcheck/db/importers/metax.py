"""MetaX: PyTorch's CUDA code built for MACA, published for torch 2.0 and 2.4."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer
from opcheck.db.importers.shared.cuda import CudaVendor

_INFERRED = {"confidence": "low", "method": "inferred"}
_VENDOR = CudaVendor(
    "metax",
    Path(__file__).with_name("metax_code.yaml"),
    _INFERRED,
    _INFERRED["method"],
    own_kernels=True,
)


class MetaxImporter(Importer):
    """Reads PyTorch's operator lists, of the torch releases that a source pairs with MACA."""

    name = _VENDOR.name

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases that the vendor has a build of, and the sources the list."""
        return tuple(r for r in _VENDOR.releases(sources) if r in _VENDOR.said["pairing"])

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one torch release."""
        return _VENDOR.release_file(sources, release)

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        pairs = tuple(_pairs(_VENDOR.said["pairing"]))
        used = {name: _VENDOR.said["sources"][name] for name in sorted({p["at"] for p in pairs})}
        return {"vendor.yaml": _VENDOR.vendor_file(pairs, used)}


def _pairs(pairing: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[dict[str, Any]]:
    """Every build that a source names; of some it is known for which MACA."""
    for release, rows in pairing.items():
        for row in rows:
            pair = {"torch": row.get("torch", release), "release": release, "at": row["at"]}
            yield {**pair, "packages": {"maca": row["maca"]}} if "maca" in row else pair
