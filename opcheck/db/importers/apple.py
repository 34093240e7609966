"""Apple GPUs: what PyTorch registers under MPS."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import facts, in_tree, torchvision_kernels
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_KEY = "MPS"
_DATA = Path(__file__).with_name("apple_code.yaml")
_TEXTS = Path(__file__).with_name("apple_texts.yaml")
_LIBRARY = "torch/lib/libtorch_cpu.dylib"
_HOST = "cpu_fallback"
_IN_PYTHON = "registered_in_python"


class AppleImporter(Importer):
    """Reads the MPS keys of PyTorch's list, and adds what runs on the CPU and what is refused."""

    name = "apple"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Torch releases that the folder holds the list of."""
        return in_tree.releases(sources / "pytorch")

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("{text} has no torch release {version}", text=self.name, version=release),
                Sentence("known releases: {list}", list=", ".join(known) or "none"),
            )
        return _release(sources / "pytorch", release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor(sources / "pytorch", self.releases(sources)).text()}


def registered(folder: Path, release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, for one release, with those that Python registers or the CPU runs."""
    declared = in_tree.declared(folder, release)
    found = {
        f"aten::{name}": {"at": f"list:{kernel.line}", "impl": [kernel.name]}
        for name, kernel in in_tree.on_device(declared, _KEY).items()
    }
    found |= torchvision_kernels.entries(release, _KEY)
    for said in _code()["python"]:
        if _within(said, release):
            for op, line in said["ops"].items():
                found.setdefault(op, {"at": f"{said['source']}:{line}", "impl": [_IN_PYTHON]})
    for said, ops in _on_host(release):
        for op, line in ops.items():
            if op.removeprefix("aten::") in declared:
                found.setdefault(op, {"at": f"{said['source']}:{line}", "impl": [_HOST]})
    return found


def _on_host(release: str) -> Iterator[tuple[Mapping[str, Any], Mapping[str, int]]]:
    """What the CPU runs unasked by what was read of a release: the source, and overload -> line.

    Of a release after all that was read, it is what the newest of them says.
    """
    tables = _code()["host"]
    newest = max(tables, key=lambda said: version_key(said["until"]))
    for said in tables:
        if _within(said, release) or (said is newest and _is_later(said, release)):
            yield said, said["ops"]


def _is_later(said: Mapping[str, Any], release: str) -> bool:
    return version_key(release) > version_key(said["until"])


def _within(said: Mapping[str, Any], release: str) -> bool:
    """Whether a release lies between the first and the last that say something."""
    first, last = said.get("since", "0"), said.get("until", release)
    return version_key(first) <= version_key(release) <= version_key(last)


def _release(folder: Path, release: str) -> ReleaseFile:
    operators = registered(folder, release)
    conditions = tuple(_conditions(release, operators))
    cited = {said["at"] for said in operators.values()}
    cited |= {at for condition in conditions for at in condition["at"]}
    listed = in_tree.list_source(folder, release)
    used = {
        **_code()["sources"],
        **_texts()["sources"],
        **torchvision_kernels.sources(release),
        "list": listed,
        "wheel": {**listed, "path": _LIBRARY, "note": "strings of the macOS arm64 wheel"},
    }
    return ReleaseFile(
        vendor=AppleImporter.name,
        release=release,
        about=f"Operators that torch {release} registers under {_KEY}",
        torch=(major_minor(release),),
        sources={name: used[name] for name in sorted({at.partition(":")[0] for at in cited})},
        operators=operators,
        conditions=conditions,
        key=_KEY,
    )


def _conditions(
    release: str, operators: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """What the CPU runs unasked, and what the kernels refuse, or others that they call."""
    refused = tuple(_refused(release, operators))
    calls = [call for call in _code()["calls"] if _within(call, release)]
    yield from refused
    yield from facts.passed_on(calls, refused, operators)
    yield from torchvision_kernels.conditions(release, _KEY)


def _refused(release: str, operators: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    on_host = {op for op, said in operators.items() if said.get("impl") == [_HOST]}
    for said, ops in _on_host(release):
        if there := [op for op in operators if op in on_host and op in ops]:
            yield {"ops": there, **_host_condition(said, release), "at": [said["source"]]}
    for fact in (*_code()["facts"], *_texts()["facts"]):
        if sure := _sure(fact, release):
            yield from facts.cases({**fact, **sure}, operators, fact["at"])


def _sure(fact: facts.Fact, release: str) -> dict[str, str]:
    """How sure a fact is of a release, and how it is known; empty where it says nothing of it."""
    if _within(fact, release):
        return {
            "confidence": fact.get("confidence", "high"),
            "method": fact.get("method", "registered"),
        }
    before = version_key(release) < version_key(fact.get("since", "0"))
    if before and "older" in fact:
        return {"confidence": fact["older"], "method": "inferred"}
    return {}


def _host_condition(said: Mapping[str, Any], release: str) -> dict[str, Any]:
    """What a release's condition on those that the CPU runs says, and how sure it is."""
    if _is_later(said, release):
        return dict(_code()["nobody_says"])
    known: Mapping[str, Any] = _code()["computed_on_host"]
    return {**known, **{key: said[key] for key in ("confidence", "method") if key in said}}


def _vendor(folder: Path, releases: Iterable[str]) -> VendorFile:
    code = _code()
    said = (*code["chips"].values(), code["fallback"], *code["notes"])
    cited = sorted({at.partition(":")[0] for part in said for at in part["at"]})
    listed = {f"v{release}": in_tree.list_source(folder, release) for release in releases}
    return VendorFile(
        vendor=AppleImporter.name,
        name="Apple GPU (Metal Performance Shaders)",
        device_type="mps",
        dispatch_key=_KEY,
        sources={**{name: code["sources"][name] for name in cited}, **listed},
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(
            {"torch": release, "release": release, "at": f"v{release}"} for release in releases
        ),
        notes=tuple(code["notes"]),
    )


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


@cache
def _texts() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_TEXTS)
    return data
