"""Core ML: what coremltools' PyTorch frontend converts of an exported program, by its source."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import loaded
from opcheck.db.importers.coreml.extract import DTYPES
from opcheck.db.importers.shared import converters, facts
from opcheck.db.importers.shared.converters import Condition, Functions, Operators
from opcheck.db.versions import version_key

_CODE = Path(__file__).with_name("coreml_code.yaml")
_CONVERTERS = Path(__file__).with_name("coreml_converters.yaml")
_FACTS = Path(__file__).with_name("coreml_facts.yaml")
_LEAVES_COMPOSITES = version_key("2.6")
"""The torch whose ``run_decompositions({})`` first leaves composites as they are."""
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


class CoreMlImporter(converters.ConverterImporter):
    """Reads what was extracted of the PyTorch frontend's converters."""

    name = "coreml"
    title = "Core ML"
    device_type = "coreml"
    about = "Operators that coremltools {release} converts of exported programs"
    code_file = _CODE

    def registered(self, known: Functions, release: str) -> Operators:
        """Give what has a converter, is served by another form, or is run in Python before."""
        said = _converters()["releases"][release]
        return {**registered(said, known, whole=self._is_whole(release)), **_in_python()}

    def conditions(
        self, operators: Operators, known: Functions, release: str
    ) -> Iterator[Condition]:
        """Give what converters refuse, what has none, and where nothing is known."""
        said = _converters()["releases"][release]
        return _conditions(said, operators, release, whole=self._is_whole(release))

    def cited(self, release: str) -> Mapping[str, Any]:
        """What entries and conditions of a release cite."""
        return {**super().cited(release), **self.code["common"], **_facts()["common"]}

    def _is_whole(self, release: str) -> bool:
        """Whether composites come to the converters as they are."""
        torch = self.code["releases"][release]["torch"]
        return version_key(torch) >= _LEAVES_COMPOSITES


def registered(said: Mapping[str, Any], known: Functions, *, whole: bool) -> dict[str, Any]:
    """Overload -> entry: with a converter, and served by another form.

    ``whole``: composites come to the converters as they are.
    """
    found = {
        name: {"at": f"{file}:{line}", "impl": ["converter"]}
        for file, overloads in said["registered"].items()
        for name, line in overloads.items()
        if (whole or not converters.is_implicit(name, known)) and not converters.writes(name, known)
    }
    return converters.with_reshaped(converters.with_forms(found, sorted(found), known))


def _in_python() -> dict[str, Any]:
    """Overload -> entry, of those that torch.export runs as a decomposition in Python."""
    return {
        op: {"at": fact["at"][0], "impl": ["decomposition"]}
        for fact in _facts()["facts"]
        if fact["code"] == _DECOMPOSED
        for op in fact["ops"]
    }


def _conditions(
    said: Mapping[str, Any], operators: Mapping[str, Any], release: str, *, whole: bool
) -> Iterator[Condition]:
    """What converters refuse by dtype and count, what has none, and where nothing is known."""
    yield from _by_dtype(said["refused"], operators)
    for each in said["counted"]:
        yield from _by_count(each, operators)
    texts = loaded(_CODE)["texts"]
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
    for fact in (*loaded(_CODE)["facts"], *_facts()["facts"]):
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
    texts = loaded(_CODE)["texts"]
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
    text = loaded(_CODE)["texts"][each["kind"] if tests else "always"]
    bound = "one_of" if few else "none_of"
    yield {
        "ops": ops, "code": "converter-raises", "text": text, "at": [f"ops:{each['line']}"],
        **({"tests": [
            {"subject": "value", "argument": name, bound: [default],
             **({"default": default} if few else {})}
            for name, default in tests.items()
        ]} if tests else {}),
    }  # fmt: skip


def _facts() -> Mapping[str, Any]:
    return loaded(_FACTS)


def _converters() -> Mapping[str, Any]:
    return loaded(_CONVERTERS)
