"""Ascend in graph mode: which overloads TorchAir converts to operators of its graph engine."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.ascend_torchair.extract import ROOT
from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_REPO, _KEY, _SOURCE = "Ascend/torchair", "PrivateUse1", "ge"
_CODE = Path(__file__).with_name("torchair_code.yaml")
_CONVERTERS = Path(__file__).with_name("torchair_converters.yaml")
_ATEN, _OWN = "aten", ("npu",)
_LITE = "lite/"
"""Folder of converters that are registered first, and stay."""
Known = Mapping[str, operator_list.Function]


class TorchairImporter(Importer):
    """Reads what was extracted of TorchAir's converters."""

    name = "ascend-torchair"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of torch_npu whose TorchAir was read."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no converters of TorchAir {version} were read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(release: str) -> dict[str, tuple[str, bool]]:
    """Overload -> where a release has its converter, and whether that only raises."""
    found: dict[str, tuple[str, bool]] = {}
    for op, places in _converters().items():
        here = [said for said in places if release in said["in"]]
        here.sort(key=lambda said: not said["at"].startswith(_LITE))
        if here:
            found[op] = (here[0]["at"], here[0].get("raises", False))
    return found


def entries(release: str, known: Known) -> dict[str, dict[str, Any]]:
    """Overload -> entry: converted, only raising, decomposed before, broken, in another form."""
    found = {
        op: {"at": f"{_SOURCE}:{at}", "impl": ["raises" if raises else "converter"]}
        for op, (at, raises) in registered(release).items()
        if _reaches(op, known) and not (raises and _has_another(op, known))
    }
    apart = _code()["decomposed"]
    found |= {op: {"at": "python", "impl": ["decomposition"]} for op in apart}
    found |= {op: {"at": "plugin", "impl": ["torch_npu"]} for op in _code()["unread"]["ops"]}
    broken = (op for said in _code()["broken"] for op in said["ops"])
    found |= {op: {"at": "config", "impl": ["torch_npu"]} for op in broken}
    own = dict.fromkeys(
        name.removeprefix("aten::")
        for name, said in sorted(found.items())
        if name.startswith("aten::") and said["impl"] == ["converter"]
    )
    forms = {**operator_list.written_forms(own, known), **_served()}
    for name, form in forms.items():
        if f"aten::{form}" in found:
            found[f"aten::{name}"] = {
                "at": found[f"aten::{form}"]["at"],
                "impl": [f"aten::{form}"],
                "method": "dispatcher",
            }
    return found


def _reaches(op: str, known: Known) -> bool:
    """Whether a graph may have it: PyTorch takes implicit composites apart before."""
    namespace, _, name = op.partition("::")
    if namespace != _ATEN:
        return namespace in _OWN
    return name in known and known[name].kind != operator_list.IMPLICIT


def _has_another(op: str, known: Known) -> bool:
    """Whether a graph has its functional form in its place."""
    name = op.removeprefix("aten::")
    return name in known and (known[name].writes or known[name].kind == "autogen")


def _served() -> dict[str, str]:
    served = _code()["served"].items()
    return {op.removeprefix("aten::"): form.removeprefix("aten::") for op, form in served}


def _release(sources: Path, release: str) -> ReleaseFile:
    said = _code()["releases"][release]
    known = operator_list.functions(sources / "pytorch", said["torch"][-1])
    operators = entries(release, known)
    served = {name: entry["impl"][0] for name, entry in operators.items() if "method" in entry}
    return ReleaseFile(
        vendor=TorchairImporter.name,
        release=release,
        about=f"Operators that TorchAir {release} has a converter of",
        torch=tuple(said["torch"]),
        sources={_SOURCE: _source(release), **_code()["cited"]},
        operators=operators,
        conditions=tuple(facts.for_every_form(_conditions(release, operators), served)),
        advisories=tuple({**one, "chips": list(_code()["chips"])} for one in _code()["advisories"]),
        key=_KEY,
    )


def _conditions(
    release: str, operators: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """What only raises, what is decomposed first, what ends a graph, what the code refuses."""
    texts = _code()["texts"]
    only = sorted(op for op, said in operators.items() if said["impl"] == ["raises"])
    yield _condition(only, "converter-raises", "unsupported", texts["raises"], [_SOURCE])
    for leaf, ops in _by_leaf(operators).items():
        verdict, code = "decomposed", "decomposed-before-conversion"
        if leaf:
            verdict, code = "unsupported", "part-not-converted"
        text = texts["leaf" if leaf else "decomposed"].replace("{leaf}", leaf)
        yield {**_condition(ops, code, verdict, text, ["python"]), "method": "inferred"}
    unread = _code()["unread"]
    yield {
        **_condition(unread["ops"], "not-stated", "unknown", unread["text"], unread["at"]),
        "confidence": "low",
    }
    for said in (*_code()["broken"], _code()["masks"]):
        found = _condition(said["ops"], "graph-break", "fallback", said["text"], said["at"])
        yield found | ({"tests": said["tests"]} if "tests" in said else {})
    yield from facts.conditions(_code()["facts"], release, _SOURCE, operators)


def _by_leaf(operators: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """The first part without a converter, "" for none -> what PyTorch decomposes so."""
    found: dict[str, list[str]] = {}
    for op, parts in _code()["decomposed"].items():
        lacking = (p for p in parts if operators.get(p, {}).get("impl") in (None, ["raises"]))
        found.setdefault(next(lacking, ""), []).append(op)
    return found


def _condition(ops: list[str], code: str, verdict: str, text: str, at: list[str]) -> dict[str, Any]:
    return {"ops": ops, "code": code, "verdict": verdict, "text": text, "at": at}


def _vendor() -> VendorFile:
    code = _code()
    return VendorFile(
        vendor=TorchairImporter.name,
        name="Huawei Ascend (TorchAir)",
        device_type="npu",
        dispatch_key=_KEY,
        inherits=("CIA",),
        kind="compiler",
        sources=code["sources"],
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


def _source(release: str) -> dict[str, str]:
    said = _code()["releases"][release]
    return {
        "repo": _REPO, "ref": said["ref"], "commit": said["commit"], "path": ROOT,
        "date": said["date"],
    }  # fmt: skip


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data


@cache
def _converters() -> Mapping[str, list[Mapping[str, Any]]]:
    data: Mapping[str, list[Mapping[str, Any]]] = load_yaml(_CONVERTERS)
    return data
