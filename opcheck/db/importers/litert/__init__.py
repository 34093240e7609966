"""LiteRT on the CPU: what litert-torch converts of a graph, and the interpreter runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import loaded
from opcheck.db.importers.shared import converters, facts
from opcheck.db.importers.shared.converters import COMPLEX, Condition, Functions, Operators

_CODE = Path(__file__).with_name("litert_code.yaml")
_LOWERINGS = Path(__file__).with_name("litert_lowerings.yaml")
_DECOMPOSED = "decompositions"
_JAX = "litert_torch/backend/lowerings/_jax_lowerings/lowerings.py:"
_OWN = "litert_torch/"
WHOLE = frozenset({"int8", "int16", "int32", "int64", "uint8"})
_CITES = {
    "runtime": "runtime", "conversion": "converter", "leaf": "decompositions", "capture": "symbols",
}  # fmt: skip
_CODES = {
    "runtime": "dtype-not-supported", "conversion": "converter-raises",
    "leaf": "part-not-converted", "capture": "not-captured",
}  # fmt: skip


class LiteRtImporter(converters.ConverterImporter):
    """Reads what was extracted of litert-torch's lowerings and of what became of calls."""

    name = "litert"
    title = "LiteRT"
    device_type = "litert"
    about = "Operators that litert-torch {release} converts of exported programs, for the CPU"
    code_file = _CODE

    def registered(self, known: Functions, release: str) -> Operators:
        """Give what is lowered, decomposed by the table, and served by another form."""
        return registered(known)

    def conditions(
        self, operators: Operators, known: Functions, release: str
    ) -> Iterator[Condition]:
        """Give what is refused by dtype or always, and what is decomposed."""
        return _conditions(operators, known)


def registered(known: Functions) -> Operators:
    """Overload -> entry: lowered, decomposed by the table, and served by another form."""
    said = {**_listed(), **{name: {} for name in _lowerings()["decomposed"]}}
    found = {
        name: _entry(each)
        for name, each in sorted(said.items())
        if converters.models_call(name, known)
        and not _writes(name, known)
        and ("lowering" in each or not converters.is_implicit(name, known) or _came_through(each))
    }
    served = converters.with_reshaped(converters.with_forms(found, found, known))
    return {**served, **loaded(_CODE)["entries"]}


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    at = str(said.get("lowering", ""))
    if not at:
        return {"at": _DECOMPOSED, "impl": ["decomposition"]}
    if at.startswith(_JAX):
        return {"at": f"jax:{at.removeprefix(_JAX)}", "impl": ["lowering"]}
    return {"at": f"own:{at.removeprefix(_OWN)}", "impl": ["lowering"]}


def _came_through(said: Mapping[str, Any]) -> bool:
    """Whether a call of any dtype did: what the table has of a composite is not PyTorch's own."""
    return bool(set(said.get("tried", ())) - set(_not(said)))


def _writes(name: str, known: Functions) -> bool:
    """Whether the functional form is in its place in a graph, or nobody wrote it."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and (function.writes or function.kind == "autogen")


def _conditions(operators: Mapping[str, Any], known: Functions) -> Iterator[Condition]:
    """What is refused by dtype or always, and what is decomposed; alike operators in one line."""
    texts = loaded(_CODE)["texts"]
    stated = loaded(_CODE)["facts"]
    read = {op for fact in stated for op in fact["ops"]}
    yield from _refusals(operators, known, read)
    for fact in stated:
        yield from facts.cases(fact, operators, fact["at"])
    yield from _untried(operators, known)
    yield from _of_dtypes(operators)
    came, untried = _decomposed(operators)
    if came:
        yield converters.apart(came, texts["decomposed"], _DECOMPOSED)
    yield converters.unsure(converters.apart(untried, texts["untried"], _DECOMPOSED))


def _untried(operators: Mapping[str, Any], known: Functions) -> Iterator[Condition]:
    """In which dtypes no call was tried: many operators of TensorFlow Lite take few of them."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    removed = loaded(_CODE)["removed"]
    for name, said in _listed().items():
        tried = _told(said)
        if name in removed:
            continue
        if name in operators and tried and converters.argument_of(name, known) != "*":
            found[converters.argument_of(name, known), tried].append(name)
    text = loaded(_CODE)["texts"]["untried_dtype"]
    for (argument, tried), names in found.items():
        condition = converters.not_looked_up(names, text, "converter")
        yield condition | converters.of_dtypes(argument, (*tried, *COMPLEX), "none_of")


def _told(said: Mapping[str, Any]) -> tuple[str, ...]:
    """In which dtypes something is known: a file has int32 for int64, which tells of both."""
    tried = {dtype for dtype in said.get("tried", ()) if dtype != "none"}
    came = "int64" in tried and "int64" not in _not(said)
    return tuple(sorted(tried | {"int32"} if came else tried))


def _of_dtypes(operators: Operators) -> Iterator[Condition]:
    """What no call takes, or none by way of JAX."""
    code = loaded(_CODE)
    texts = code["texts"]
    by_jax = [name for name, entry in operators.items() if _lowered_by_jax(entry, operators)]
    own = [name for name in operators if name not in by_jax]
    for ops, dtypes, text, why, at in (
        (["*"], code["dtypes"], "dtypes", "converter-raises", "dtypes:29"),
        (by_jax, COMPLEX, "complex", "numbers-not-converted", "bridge:242"),
    ):
        refused = {
            "ops": ops, "code": why, "verdict": "unsupported", "text": texts[text], "at": [at],
        }  # fmt: skip
        yield refused | converters.of_dtypes("*", dtypes)
    unknown = converters.not_looked_up(own, texts["complex_own"], "dtypes:29")
    yield unknown | converters.of_dtypes("*", COMPLEX)


def _lowered_by_jax(entry: Mapping[str, Any], operators: Mapping[str, Any]) -> bool:
    by = operators.get(entry["impl"][0], entry)
    return str(by["at"]).startswith("jax:")


def _refusals(
    operators: Mapping[str, Any], known: Functions, read: set[str]
) -> Iterator[Condition]:
    """What came of calls, but for what ``read`` says of it."""
    refused: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, said in _listed().items():
        if name not in operators or "method" in operators[name]:
            continue
        for why, dtypes in _reasons(said):
            if why == "capture" and name in read:
                continue  # the code says when
            refused[why, converters.argument_of(name, known) if dtypes else "", dtypes].append(name)
    folded = loaded(_CODE)["folded"]
    for (why, argument, dtypes), names in refused.items():
        apart = [name for name in names if dtypes and name in folded]
        others = [name for name in names if name not in apart]
        if others:
            yield _refusal(why, argument, dtypes, others)
        yield from _unless_folded(why, argument, dtypes, apart)


def _unless_folded(
    why: str, argument: str, dtypes: tuple[str, ...], names: list[str]
) -> Iterator[Condition]:
    """What is refused of what a model is given, and in whole numbers computed of constants."""
    constant = {"subject": "mode", "argument": f"computed {argument}", "none_of": ["parameters"]}
    for chosen, tests in ((WHOLE.intersection(dtypes), [constant]), ({*dtypes} - WHOLE, [])):
        if chosen and names:
            condition = _refusal(why, argument, tuple(sorted(chosen)), names)
            yield {**condition, "tests": [*condition["tests"], *tests]}


def _reasons(said: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason with its dtypes; () of one that holds for every call."""
    by: dict[str, list[str]] = defaultdict(list)
    for dtype, why in said.get("not", {}).items():
        by[why].append(dtype)
    tried = said.get("tried", ())
    for why, dtypes in by.items():
        never = set(tried) == set(dtypes) and (len(tried) > 1 or why.startswith("leaf"))
        named = () if never else tuple(dtype for dtype in dtypes if dtype != "none")
        if named or never:
            yield why, named


def _decomposed(operators: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What the table takes apart: that which was seen to come through, and that which was not."""
    apart = [name for name, entry in operators.items() if entry["impl"] == ["decomposition"]]
    said = {name: _listed().get(name, {}) for name in apart}
    came = [name for name, each in said.items() if _came_through(each)]
    refused = {name for name, each in said.items() if _not(each)}
    return sorted(came), sorted(set(apart).difference(came, refused))


def _not(said: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = said.get("not", {})
    return found


def _refusal(why: str, argument: str, dtypes: tuple[str, ...], names: list[str]) -> Condition:
    kind, _, named = why.partition(" ")
    texts = loaded(_CODE)["texts"]
    text = texts[kind] if dtypes else texts.get(f"{kind}_always", texts[kind])
    return {
        "ops": sorted(set(names)),
        "code": _CODES[kind] if dtypes or kind != "runtime" else "runtime-refuses",
        "verdict": "unsupported",
        "text": text.replace("{leaf}", named),
        "at": [_CITES[kind]],
        **converters.of_dtypes(argument, dtypes),
    }


def _listed() -> Mapping[str, Mapping[str, Any]]:
    """What is known of each overload."""
    found: Mapping[str, Mapping[str, Any]] = _lowerings()["overloads"]
    return found


def _lowerings() -> Mapping[str, Any]:
    return loaded(_LOWERINGS)
