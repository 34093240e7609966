"""OpenVINO on the CPU: what its PyTorch frontend converts of an exported program."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import loaded
from opcheck.db.importers.shared import converters, facts
from opcheck.db.importers.shared.converters import Condition, Functions, Operators

_CODE = Path(__file__).with_name("openvino_code.yaml")
_LOWERINGS = Path(__file__).with_name("openvino_lowerings.yaml")
_EARLIER = Path(__file__).with_name("openvino_earlier.yaml")
_CHECKED = "code"
"""The source whose lines raise, as the wheel of a release names them."""
_COMPLEX = "complex64"
_DECOMPOSED = "decompositions"
_CITES = {
    "plugin": "plugin", "complex": "frontend", "leaf": "table", "capture": "symbols",
    "other": "frontend",
}  # fmt: skip
_CODES = {
    "plugin": "dtype-not-supported", "complex": "numbers-not-converted",
    "leaf": "part-not-converted", "capture": "not-captured", "other": "converter-raises",
}  # fmt: skip


class OpenVinoImporter(converters.ConverterImporter):
    """Reads what was extracted of the PyTorch frontend's tables and of the CPU plugin."""

    name = "openvino"
    title = "OpenVINO"
    device_type = "openvino"
    about = "Operators that OpenVINO {release} converts of exported programs, for the CPU"
    code_file = _CODE

    def registered(self, known: Functions, release: str) -> Operators:
        """Give what is converted, decomposed by the table, and served by another form."""
        return registered(known, release)

    def conditions(
        self, operators: Operators, known: Functions, release: str
    ) -> Iterator[Condition]:
        """Give what is refused by dtype or always, and what is decomposed."""
        return _conditions(operators, known, release)


def registered(known: Functions, release: str) -> Operators:
    """Overload -> entry: converted, decomposed by the table, and served by another form."""
    found = {
        name: _entry(said)
        for name, said in _listed(release).items()
        if converters.models_call(name, known)
        and ("converter" in said or not converters.is_implicit(name, known))
    }
    found |= {
        name: _entry({})
        for name in _lowerings()["decomposed"]
        if converters.models_call(name, known)
        and not converters.is_implicit(name, known)
        and not converters.writes(name, known)
    }
    own = (name for name in sorted(found) if not converters.writes(name, known))
    return converters.with_reshaped(converters.with_forms(found, own, known))


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    if "converter" in said:
        return {"at": "table", "impl": ["converter"]}
    return {"at": _DECOMPOSED, "impl": ["decomposition"]}


def _conditions(
    operators: Mapping[str, Mapping[str, Any]], known: Functions, release: str
) -> Iterator[dict[str, Any]]:
    """What is refused by dtype or always, and what is decomposed; alike operators in one line."""
    texts, asked = loaded(_CODE)["texts"], release not in _earlier()
    checked = [
        each for each in loaded(_CODE)["checks"] if facts.citation(each["seen"], release, "")
    ]
    stated = [each for each in loaded(_CODE)["facts"] if asked or each["at"] != ["frontend"]]
    read = {op for fact in (*stated, *checked) for op in fact["ops"]}
    yield from _refusals(operators, known, read, release)
    for fact in stated:
        yield from facts.cases(fact, operators, fact["at"])
    yield from facts.conditions(checked, release, _CHECKED, operators)
    yield _in_complex(operators, release)
    came, untried = _decomposed(operators, release)
    if came:
        yield converters.apart(came, texts["decomposed"], _DECOMPOSED)
    yield converters.unsure(converters.apart(untried, texts["untried"], _DECOMPOSED))


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
            refused[why, converters.argument_of(name, known) if dtypes else "", dtypes].append(name)
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


def _refusal(why: str, argument: str, dtypes: tuple[str, ...], names: list[str]) -> dict[str, Any]:
    kind, _, named = why.partition(" ")
    texts = loaded(_CODE)["texts"]
    text = texts[kind] if dtypes else texts.get(f"{kind}_always", texts[kind])
    return {
        "ops": sorted(set(names)),
        "code": _CODES[kind] if dtypes or kind != "plugin" else "runtime-refuses",
        "verdict": "unsupported",
        "text": text.replace("{leaf}", named),
        "at": [_CITES[kind]],
        **converters.of_dtypes(argument, dtypes),
    }


def _in_complex(operators: Mapping[str, Mapping[str, Any]], release: str) -> dict[str, Any]:
    """Converters that no call in complex numbers was tried of: most take none, and no list says."""
    names = [
        name
        for name, said in _listed(release).items()
        if "converter" in said and name in operators and _COMPLEX not in said.get("tried", ())
    ]
    text = loaded(_CODE)["texts"]["untried_complex"]
    found = converters.not_looked_up(names, text, "frontend")
    return found | converters.of_dtypes("*", converters.COMPLEX)


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


def _lowerings() -> Mapping[str, Any]:
    return loaded(_LOWERINGS)


def _earlier() -> Mapping[str, Mapping[str, list[str]]]:
    return loaded(_EARLIER)
