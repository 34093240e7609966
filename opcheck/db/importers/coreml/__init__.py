"""Core ML: what coremltools' PyTorch frontend converts of an exported program, by its source."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.coreml.extract import DTYPES
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

Functions = Mapping[str, operator_list.Function]
Condition = dict[str, Any]
_KEY = "CPU"
"""What PyTorch runs the model on while it is captured; a converter has no dispatch key."""
_CODE = Path(__file__).with_name("coreml_code.yaml")
_CONVERTERS = Path(__file__).with_name("coreml_converters.yaml")
_FACTS = Path(__file__).with_name("coreml_facts.yaml")
_LEAVES_COMPOSITES = version_key("2.6")
"""The torch whose ``run_decompositions({})`` first leaves composites as they are."""
_RESHAPED = "aten::_reshape_alias"
_DECOMPOSED = "decomposed-in-capture"
_DIMENSIONS = 5
"""As many as Core ML's tensors have."""
_RESHAPED_TO_FEWER = frozenset({
    "aten::view", "aten::reshape", "aten::_unsafe_view", "aten::_reshape_alias", "aten::permute",
    "aten::transpose.int", "aten::contiguous", "aten::clone", "aten::detach",
})  # fmt: skip
"""What may have more in between: a pass makes a reshape, a transpose and a reshape of fewer."""
_NOT_READ = {
    "bfloat16": ("bfloat16",),
    "small": ("uint8", "int8", "uint16", "uint32", "uint64", "complex64", "complex128"),
}
"""Text -> dtypes that the reader of converters knows nothing of."""


class CoreMlImporter(Importer):
    """Reads what was extracted of the PyTorch frontend's converters."""

    name = "coreml"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of coremltools whose code was read."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no converters of coremltools {version} were read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(said: Mapping[str, Any], known: Functions, *, whole: bool) -> dict[str, Any]:
    """Overload -> entry: with a converter, and served by another form.

    ``whole``: composites come to the converters as they are.
    """
    found = {
        name: {"at": f"{file}:{line}", "impl": ["converter"]}
        for file, overloads in said["registered"].items()
        for name, line in overloads.items()
        if (whole or not _implicit(name, known)) and not _writes(name, known)
    }
    own = dict.fromkeys(  # in order, for several overloads may share a form
        name.removeprefix("aten::") for name in sorted(found) if name.startswith("aten::")
    )
    served = {
        f"aten::{name}": {
            "at": found[f"aten::{form}"]["at"],
            "impl": [f"aten::{form}"],
            "method": "dispatcher",
        }
        for name, form in operator_list.written_forms(own, known).items()
    }
    if "aten::view" in found:  # what writes it in a captured graph
        at = found["aten::view"]["at"]
        served[_RESHAPED] = {"at": at, "impl": ["aten::view"], "method": "dispatcher"}
    return {**found, **served}


def _implicit(name: str, known: Functions) -> bool:
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.kind == operator_list.IMPLICIT


def _writes(name: str, known: Functions) -> bool:
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.writes


def _release(sources: Path, release: str) -> ReleaseFile:
    code = _code()["releases"][release]
    said = _converters()["releases"][release]
    known = operator_list.functions(sources / "pytorch", code["torch"])
    whole = version_key(code["torch"]) >= _LEAVES_COMPOSITES
    operators = registered(said, known, whole=whole) | _in_python()
    served = {name: entry["impl"][0] for name, entry in operators.items() if "method" in entry}
    found = tuple(
        {**one, "ops": list(dict.fromkeys(one["ops"]))}
        for one in facts.for_every_form(_conditions(said, operators, release, whole=whole), served)
    )
    return ReleaseFile(
        vendor=CoreMlImporter.name,
        release=release,
        about=f"Operators that coremltools {release} converts of exported programs",
        torch=(code["torch"],),
        sources={**code["sources"], **_code()["common"], **_facts()["common"]},
        operators=operators,
        conditions=found,
        advisories=tuple({**each, "chips": list(_code()["chips"])} for each in _advisories()),
        key=_KEY,
    )


def _in_python() -> dict[str, Any]:
    """Overload -> entry, of those that torch.export runs as a decomposition in Python."""
    return {
        op: {"at": fact["at"][0], "impl": ["decomposition"]}
        for fact in _facts()["facts"]
        if fact["code"] == _DECOMPOSED
        for op in fact["ops"]
    }


def _advisories() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _code()["advisories"]
    return found


def _conditions(
    said: Mapping[str, Any], operators: Mapping[str, Any], release: str, *, whole: bool
) -> Iterator[Condition]:
    """What converters refuse by dtype and count, what has none, and where nothing is known."""
    yield from _by_dtype(said["refused"], operators)
    for each in said["counted"]:
        yield from _by_count(each, operators)
    texts = _code()["texts"]
    if whole and said["left"]:
        yield {
            "ops": said["left"], "code": "no-converter", "verdict": "unsupported",
            "text": texts["whole"], "at": ["composites"],
        }  # fmt: skip
    for name, dtypes in _NOT_READ.items():
        refused = name == "bfloat16"
        yield {
            "ops": ["*"],
            "code": "converter-raises" if refused else "numbers-not-looked-up",
            "verdict": "unsupported" if refused else "unknown",
            **({} if refused else {"confidence": "low", "method": "inferred"}),
            "text": texts[name],
            "at": ["dtypes"],
            "tests": [{"subject": "dtype", "argument": "*", "one_of": list(dtypes)}],
        }
    for fact in (*_code()["facts"], *_facts()["facts"]):
        line = fact.get("seen", {}).get(release)
        if "seen" not in fact or line:
            cited = [*([f"{fact.get('file', 'ops')}:{line}"] if line else ()), *fact.get("at", ())]
            yield from facts.cases(fact, operators, cited)
    yield {
        "ops": [name for name in operators if name not in _RESHAPED_TO_FEWER],
        "code": "converter-raises", "verdict": "unsupported", "text": texts["ranks"],
        "at": ["ranks:154"],
        "tests": [{"subject": "rank", "argument": "*", "maximum": _DIMENSIONS}],
    }  # fmt: skip
    yield {
        "ops": ["*"], "code": "placement-not-known", "verdict": "unknown", "confidence": "low",
        "method": "inferred", "text": texts["placed"], "at": ["compute:48"],
        "chips": ["gpu", "ane"],
    }  # fmt: skip


def _by_dtype(
    refused: list[Mapping[str, Any]], operators: Mapping[str, Any]
) -> Iterator[Condition]:
    """One condition for the dtypes that one place in the code refuses of the same arguments."""
    found: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for each in refused:
        ops = tuple(op for op in each["ops"] if op in operators)
        if ops:
            number = tuple(each.get("number", ()))
            key = (each["why"], tuple(each["arguments"]), each["line"], ops, number)
            found[key] += DTYPES[each["dtype"]]
    texts = _code()["texts"]
    for (why, arguments, line, ops, number), dtypes in found.items():
        tests = [{"subject": "dtype", "argument": name, "one_of": dtypes} for name in arguments]
        if number:
            tests += [{"subject": "number-type", "argument": number[0], "one_of": [number[1]]}]
        yield {
            "ops": list(ops),
            "code": "converter-raises",
            "text": texts["number" if number else "mil" if why else "raises"],
            "at": [f"ops:{line}"],
            "tests": tests,
        }


def _by_count(each: Mapping[str, Any], operators: Mapping[str, Any]) -> Iterator[Condition]:
    ops = [op for op in each["ops"] if op in operators]
    if not ops:
        return
    few, tests = each["kind"] == "few", each["tests"]
    text = _code()["texts"][each["kind"] if tests else "always"]
    bound = "one_of" if few else "none_of"
    yield {
        "ops": ops, "code": "converter-raises", "text": text, "at": [f"ops:{each['line']}"],
        **({"tests": [
            {"subject": "value", "argument": name, bound: [default],
             **({"default": default} if few else {})}
            for name, default in tests.items()
        ]} if tests else {}),
    }  # fmt: skip


def _vendor() -> VendorFile:
    code = _code()
    return VendorFile(
        vendor=CoreMlImporter.name,
        name="Core ML",
        device_type="coreml",
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
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data


@cache
def _facts() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_FACTS)
    return data


@cache
def _converters() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CONVERTERS)
    return data
