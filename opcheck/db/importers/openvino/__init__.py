"""OpenVINO on the CPU: what its PyTorch frontend converts of an exported program."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

Functions = Mapping[str, operator_list.Function]
_KEY = "CPU"
"""What PyTorch runs the model on while it is captured; a converter has no dispatch key."""
_CODE = Path(__file__).with_name("openvino_code.yaml")
_LOWERINGS = Path(__file__).with_name("openvino_lowerings.yaml")
_EARLIER = Path(__file__).with_name("openvino_earlier.yaml")
_CHECKED = "code"
"""The source whose lines raise, as the wheel of a release names them."""
_COMPLEX = "complex64"
_RESHAPED = "aten::_reshape_alias"
_NAMESPACES = ("aten", "torchvision", "quantized_decomposed")
"""Of the overloads that models call; others are met inside of decompositions alone."""
_CITES = {
    "plugin": "plugin", "complex": "frontend", "leaf": "table", "capture": "symbols",
    "other": "frontend",
}  # fmt: skip
_CODES = {
    "plugin": "dtype-not-supported", "complex": "numbers-not-converted",
    "leaf": "part-not-converted", "capture": "not-captured", "other": "converter-raises",
}  # fmt: skip


class OpenVinoImporter(Importer):
    """Reads what was extracted of the PyTorch frontend's tables and of the CPU plugin."""

    name = "openvino"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of OpenVINO whose wheels were asked."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no converters of OpenVINO {version} were read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(known: Functions, release: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry: converted, decomposed by the table, and served by another form."""
    untried = _lowerings()["decomposed"]
    found = {
        name: _entry(said)
        for name, said in _listed(release).items()
        if _models_call(name, known) and ("converter" in said or not _implicit(name, known))
    }
    found |= {
        name: _entry({})
        for name in untried
        if _models_call(name, known) and not _implicit(name, known) and not _writes(name, known)
    }
    own = dict.fromkeys(  # in order, for several overloads may share a form
        name.removeprefix("aten::")
        for name in sorted(found)
        if name.startswith("aten::") and not _writes(name, known)
    )
    served = {
        f"aten::{name}": {
            "at": found[f"aten::{form}"]["at"],
            "impl": [f"aten::{form}"],
            "method": "dispatcher",
        }
        for name, form in operator_list.written_forms(own, known).items()
    }
    if "aten::view" in found:  # what a captured graph has in its place
        at = found["aten::view"]["at"]
        served[_RESHAPED] = {"at": at, "impl": ["aten::view"], "method": "dispatcher"}
    return {**found, **served}


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    if "converter" in said:
        return {"at": "table", "impl": ["converter"]}
    return {"at": "decompositions", "impl": ["decomposition"]}


def _models_call(name: str, known: Functions) -> bool:
    namespace, _, rest = name.partition("::")
    return namespace in _NAMESPACES and (namespace != "aten" or rest in known)


def _implicit(name: str, known: Functions) -> bool:
    """Whether PyTorch takes it apart by its arguments, so that a call's own parts decide."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.kind == operator_list.IMPLICIT


def _writes(name: str, known: Functions) -> bool:
    """Whether it writes to an argument: the table puts the functional form in its place."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.writes


def _release(sources: Path, release: str) -> ReleaseFile:
    said = _code()["releases"][release]
    known = operator_list.functions(sources / "pytorch", said["torch"])
    operators = registered(known, release)
    served = {name: entry["impl"][0] for name, entry in operators.items() if "method" in entry}
    found = tuple(
        {**one, "ops": list(dict.fromkeys(one["ops"]))}
        for one in facts.for_every_form(_conditions(operators, known, release), served)
    )
    return ReleaseFile(
        vendor=OpenVinoImporter.name,
        release=release,
        about=f"Operators that OpenVINO {release} converts of exported programs, for the CPU",
        torch=(said["torch"],),
        sources=said["sources"],
        operators=operators,
        conditions=found,
        advisories=tuple({**each, "chips": list(_code()["chips"])} for each in _advisories()),
        key=_KEY,
    )


def _advisories() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _code()["advisories"]
    return found


def _conditions(
    operators: Mapping[str, Mapping[str, Any]], known: Functions, release: str
) -> Iterator[dict[str, Any]]:
    """What is refused by dtype or always, and what is decomposed; alike operators in one line."""
    texts, asked = _code()["texts"], release not in _earlier()
    checked = [each for each in _code()["checks"] if facts.citation(each["seen"], release, "")]
    stated = [each for each in _code()["facts"] if asked or each["at"] != ["frontend"]]
    read = {op for fact in (*stated, *checked) for op in fact["ops"]}
    yield from _refusals(operators, known, read, release)
    for fact in stated:
        yield from facts.cases(fact, operators, fact["at"])
    yield from facts.conditions(checked, release, _CHECKED, operators)
    yield _in_complex(operators, release)
    came, untried = _decomposed(operators, release)
    if came:
        yield _apart(came, texts["decomposed"], "decomposed", "high")
    yield {**_apart(untried, texts["untried"], "unknown", "low"), "method": "inferred"}


def _refusals(
    operators: Mapping[str, Any], known: Functions, read: Collection[str], release: str
) -> Iterator[dict[str, Any]]:
    """What the wheel refused of the calls that it was asked, but for what ``read`` says of it."""
    refused: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, said in _listed(release).items():
        if name not in operators or "method" in operators[name]:
            continue
        for why, dtypes in _reasons(said):
            if why in ("other", "capture") and name in read:
                continue  # the code says when
            refused[why, _argument(name, known) if dtypes else "", dtypes].append(name)
    for (why, argument, dtypes), names in refused.items():
        yield _refusal(why, argument, dtypes, names)


def _decomposed(operators: Mapping[str, Any], release: str) -> tuple[list[str], list[str]]:
    """What the table takes apart: that which was seen to come through, and that which was not."""
    own = {name for name, entry in operators.items() if "method" not in entry}
    came = [
        name
        for name, said in _listed(release).items()
        if name in own and "converter" not in said and _came_through(said)
    ]
    refused = {name for name, said in _listed(release).items() if _never(said)}
    untried = [
        name
        for name in sorted(own)
        if operators[name]["impl"] == ["decomposition"] and name not in refused.union(came)
    ]
    return sorted(came), untried


def _reasons(said: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason with its dtypes; () of one that holds for every call."""
    by: dict[str, list[str]] = defaultdict(list)
    for dtype, why in said.get("not", {}).items():
        by[why].append(dtype)
    for why, dtypes in by.items():
        always = why != "complex" and _never(said)
        named = () if always else tuple(dtype for dtype in dtypes if dtype != "none")
        if named or always:
            yield why, named


def _never(said: Mapping[str, Any]) -> bool:
    """Whether no call of any dtype came through, where one in real numbers was tried."""
    tried = set(said.get("tried", ()))
    return tried == set(said.get("not", ())) and tried > {_COMPLEX} & tried


def _came_through(said: Mapping[str, Any]) -> bool:
    """Whether a call of any dtype did."""
    return not set(said.get("tried", ())) <= set(said.get("not", ()))


def _argument(name: str, known: Functions) -> str:
    """The first tensor of a call, whose dtype was noted."""
    function = known.get(name.removeprefix("aten::"))
    return function.tensors[0] if function is not None and function.tensors else "*"


def _refusal(why: str, argument: str, dtypes: tuple[str, ...], names: list[str]) -> dict[str, Any]:
    kind, _, named = why.partition(" ")
    texts = _code()["texts"]
    text = texts[kind] if dtypes else texts.get(f"{kind}_always", texts[kind])
    tests = [{"subject": "dtype", "argument": argument, "one_of": list(dtypes)}]
    return {
        "ops": sorted(set(names)),
        "code": _CODES[kind] if dtypes or kind != "plugin" else "runtime-refuses",
        "verdict": "unsupported",
        "text": text.replace("{leaf}", named),
        "at": [_CITES[kind]],
        **({"tests": tests} if dtypes else {}),
    }


def _in_complex(operators: Mapping[str, Mapping[str, Any]], release: str) -> dict[str, Any]:
    """Converters that no call in complex numbers was tried of: most take none, and no list says."""
    names = [
        name
        for name, said in _listed(release).items()
        if "converter" in said and name in operators and _COMPLEX not in said.get("tried", ())
    ]
    return {
        "ops": names,
        "code": "numbers-not-looked-up",
        "verdict": "unknown",
        "confidence": "low",
        "method": "inferred",
        "text": _code()["texts"]["untried_complex"],
        "at": ["frontend"],
        "tests": [{"subject": "dtype", "argument": "*", "one_of": ["complex64", "complex128"]}],
    }


def _apart(names: list[str], text: str, verdict: str, confidence: str) -> dict[str, Any]:
    return {
        "ops": names,
        "code": "decomposed-before-conversion",
        "verdict": verdict,
        "confidence": confidence,
        "method": "registered",
        "text": text,
        "at": ["decompositions"],
    }


def _vendor() -> VendorFile:
    code = _code()
    return VendorFile(
        vendor=OpenVinoImporter.name,
        name="OpenVINO",
        device_type="openvino",
        dispatch_key=_KEY,
        inherits=("CIA",),
        kind="export",
        sources=code["sources"],
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


@cache
def _listed(release: str) -> Mapping[str, Mapping[str, Any]]:
    """What is known of each overload; of releases that no calls were tried with, the tables."""
    found: Mapping[str, Mapping[str, Any]] = _lowerings()["overloads"]
    if release not in _earlier():
        return found
    lacks, decomposed = map(
        frozenset, (_earlier()[release][key] for key in ("lacks", "decomposed"))
    )
    return {
        name: {"converter": True} if "converter" in said and name not in decomposed else {}
        for name, said in found.items()
        if name not in lacks
    }


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data


@cache
def _lowerings() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_LOWERINGS)
    return data


@cache
def _earlier() -> Mapping[str, Mapping[str, list[str]]]:
    data: Mapping[str, Mapping[str, list[str]]] = load_yaml(_EARLIER)
    return data
