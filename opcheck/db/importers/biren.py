"""Biren: torch-supa, which registers PyTorch's CUDA kernels and its own under PrivateUse1."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import cuda, in_tree, torchvision_kernels
from opcheck.db.importers.shared.facts import cases
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_CODE = Path(__file__).with_name("biren_code.yaml")
_KEY, _AUTOGRAD, _CUDA = "PrivateUse1", "AutogradPrivateUse1", "CUDA"
_INFERRED = {"confidence": "low", "method": "inferred"}
_DIFFER = (
    "the vendor's table says that this function of torch.linalg is not supported, "
    "while its kernel is registered"
)


class BirenImporter(Importer):
    """Reads PyTorch's lists, as torch-supa's generator does, and the vendor's own list."""

    name = "biren"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of torch-supa, one for each torch."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no torch-supa {version} is known", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(sources: Path, torch: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, of what torch-supa registers where it is built for one torch."""
    listed = in_tree.declared(sources / "pytorch", torch)
    found = {
        f"aten::{name}": {"at": f"list:{kernel.line}", "impl": [kernel.name]}
        for name, kernel in in_tree.registered(listed, _CUDA).items()
        if _kept(name, listed[name].delegate)
    }
    for name, line in _code()["listed"].items():
        if name in listed:
            found[f"aten::{name}"] = {"at": f"supa:{line}", "impl": [f"supa::{name}"]}
    for name, line in _code()["autograd"].items():
        found[f"aten::{name}"] = {
            "at": f"supa:{line}", "impl": [f"supa::{name}"], "keys": [_AUTOGRAD],
        }  # fmt: skip
    vision = torchvision_kernels.entries(torch, _CUDA)
    return found | {op: {**entry, "method": "inferred"} for op, entry in vision.items()}


def _kept(name: str, delegate: str) -> bool:
    """Whether the generator leaves an overload to PyTorch's own kernel (``should_keep``)."""
    own = {*_code()["listed"], *_code()["autograd"]}
    return own.isdisjoint((name, delegate)) and not any(w in name for w in _code()["left_out"])


def _release(sources: Path, release: str) -> ReleaseFile:
    torch = _code()["releases"][release]["torch"]
    operators = registered(sources, torch)
    conditions = (
        *(one for fact in _code()["facts"] for one in cases(fact, operators, fact["at"])),
        *_documented(operators),
        *_dtypes(sources, torch, operators),
    )
    return ReleaseFile(
        vendor=BirenImporter.name,
        release=release,
        about=f"Operators that torch-supa {release} registers",
        torch=(major_minor(torch),),
        sources=_sources(sources / "pytorch", torch, conditions),
        operators=operators,
        conditions=conditions,
        key=_KEY,
    )


def _documented(operators: Collection[str]) -> Iterator[dict[str, Any]]:
    """What the table of torch.linalg says of kernels that are registered all the same."""
    for line, ops in _code()["documented"].items():
        if there := [op for op in ops if op in operators]:
            yield {
                "ops": there, "code": "not-supported-by-vendor", "verdict": "unknown",
                "confidence": "medium", "method": "documented", "text": _DIFFER,
                "at": [f"linalg:{line}"],
            }  # fmt: skip


def _dtypes(
    sources: Path, torch: str, operators: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """What PyTorch's tests of CUDA say of the kernels that are PyTorch's own."""
    for said in cuda.dtype_conditions(sources, torch, _INFERRED):
        ops = [op for op in said["ops"] if operators.get(op, {"at": ""})["at"].startswith("list:")]
        if ops:
            yield {**said, **_INFERRED, "ops": ops}


def _sources(folder: Path, torch: str, conditions: Collection[Mapping[str, Any]]) -> dict[str, Any]:
    """PyTorch's list, the vendor's, and whatever the conditions cite."""
    tests = {**in_tree.torch_source(folder, cuda.TESTED), "path": cuda.PATH}
    own = {**_code()["sources"], "tests": tests, "torch": in_tree.torch_source(folder, torch)}
    cited = {at.partition(":")[0] for said in conditions for at in said["at"]}
    names = sorted({*cited, "supa", "generator", "vision-init"})
    used = {name: own[name] for name in names}
    listed = {"list": in_tree.list_source(folder, torch)}
    return {**listed, **used, **torchvision_kernels.sources(torch)}


def _vendor() -> VendorFile:
    code = _code()
    parts = (*code["chips"].values(), code["fallback"], *code["notes"])
    cited = {at.partition(":")[0] for part in parts for at in part["at"]}
    cited |= {row["at"] for row in code["paired"]}
    return VendorFile(
        vendor=BirenImporter.name,
        name="Biren",
        device_type="supa",
        dispatch_key=_KEY,
        sources={name: code["sources"][name] for name in sorted(cited)},
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data
