"""ONNX Runtime: what torch.onnx converts, and what the runtime's providers have kernels for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import loaded
from opcheck.db.importers.onnxruntime import placed
from opcheck.db.importers.shared import converters, facts
from opcheck.db.importers.shared.converters import Condition, Functions, Operators

_CPU = "cpu"
_CODE = Path(__file__).with_name("onnxruntime_code.yaml")
_LOWERINGS = Path(__file__).with_name("onnxruntime_lowerings.yaml")
_TABLE = "table"
_CITES = {
    "kernel": "kernels", "type": "operators", "complex": "dispatching", "leaf": "dispatching",
    "capture": "table", "other": "dispatching",
}  # fmt: skip
_CODES = {
    "kernel": "dtype-not-supported", "type": "dtype-not-supported",
    "complex": "numbers-not-converted", "leaf": "part-not-converted", "capture": "not-captured",
    "other": "converter-raises",
}  # fmt: skip


_READ = frozenset({"other", "capture", "leaf"})
"""Reasons of single calls, which say nothing of others where the code was read."""


class OnnxRuntimeImporter(converters.ConverterImporter):
    """Reads what was extracted of torch.onnx's registry and of ONNX Runtime's kernels."""

    name = "onnxruntime"
    title = "ONNX Runtime"
    device_type = "ort"
    about = "Operators that torch.onnx converts, for providers of ONNX Runtime {release}"
    code_file = _CODE

    def registered(self, known: Functions, release: str) -> Operators:
        """Give what is converted, decomposed by the table, and served by another form."""
        return registered(known)

    def conditions(
        self, operators: Operators, known: Functions, release: str
    ) -> Iterator[Condition]:
        """Give what is refused by dtype or always, what is decomposed, and where calls go."""
        return _conditions(operators, known)


def registered(known: Functions) -> Operators:
    """Overload -> entry: converted, decomposed by the table, and served by another form."""
    found = {
        name: _entry(said)
        for name, said in _listed().items()
        if converters.models_call(name, known)
        and ("at" in said or not converters.is_implicit(name, known))
    }
    found |= {
        name: _entry({})
        for name in _lowerings()["decomposed"]
        if converters.models_call(name, known) and _needs_table(name, known)
    }
    own = (
        name
        for name in sorted(found)
        if "at" in _listed().get(name, {}) or not converters.writes(name, known)
    )
    return {**converters.with_forms(found, own, known), **loaded(_CODE)["entries"]}


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    if "at" in said:
        return {"at": said["at"], "impl": ["converter"]}
    return {"at": _TABLE, "impl": ["decomposition"]}


def _needs_table(name: str, known: Functions) -> bool:
    """Whether nothing but the table takes it apart, and no other form of it is converted."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and not converters.is_implicit(name, known) and not function.writes


def _conditions(
    operators: Mapping[str, Mapping[str, Any]], known: Functions
) -> Iterator[dict[str, Any]]:
    """What is refused by dtype or always, and what is decomposed; alike operators in one line."""
    refused: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    code = loaded(_CODE)
    apart, read = [], {op for fact in code["facts"] for op in fact["ops"]}
    for name, said in _listed().items():
        if name not in operators or "method" in operators[name]:
            continue
        for why, dtypes in _reasons(said):
            if why.partition(" ")[0] in _READ and name in read:
                continue  # the code says when
            argument = converters.argument_of(name, known)
            refused[why, argument if dtypes else "", dtypes].append(name)
        if "at" not in said and not _never(said):
            apart.append(name)
    for (why, argument, dtypes), names in refused.items():
        yield _refusal(why, argument, dtypes, names)
    yield from _by_opset(operators, known)
    for fact in code["facts"]:
        yield from facts.cases(fact, operators, fact["at"])
    listed = converters.own_entries(_listed(), operators)
    yield from placed.conditions(listed, code, _every_opset(), known)
    yield converters.apart(sorted(apart), code["texts"]["decomposed"], _TABLE)
    named = _lowerings()["decomposed"]
    untried = [name for name in named if "method" not in operators.get(name, {"method": ""})]
    yield converters.unsure(converters.apart(untried, code["texts"]["untried"], _TABLE))


def _every_opset() -> str:
    """The span of all opsets that are written, of any release."""
    spans = {f"{each['opsets']['first']}..{each['opsets']['last']}" for each in _releases()}
    (found,) = spans
    return found


def _by_opset(
    operators: Mapping[str, Mapping[str, Any]], known: Functions
) -> Iterator[dict[str, Any]]:
    """What is refused in some versions of ONNX's operators alone."""
    refused: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for spans, overloads in _lowerings()["opsets"].items():
        for name, dtypes in overloads.items():
            if name in operators and "method" not in operators[name]:
                for dtype, why in dtypes.items():
                    refused[spans, why, converters.argument_of(name, known), dtype].append(name)
    for (spans, why, argument, dtype), names in refused.items():
        yield {**_refusal(why, argument, (dtype,), names), "opset": spans}


def _reasons(said: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason with its dtypes; () of one that holds for every call."""
    by: dict[str, list[str]] = defaultdict(list)
    for dtype, why in said.get("not", {}).items():
        by[why].append(dtype)
    for why, dtypes in by.items():
        always = why.partition(" ")[0] in ("leaf", "capture", "other") and _never(said)
        named = () if always else tuple(dtype for dtype in dtypes if dtype != "none")
        if named or always:
            yield why, named


def _never(said: Mapping[str, Any]) -> bool:
    """Whether no call of any dtype came through."""
    return set(said.get("tried", ())) == set(said.get("not", ())) and bool(said.get("not"))


def _refusal(why: str, argument: str, dtypes: tuple[str, ...], names: list[str]) -> dict[str, Any]:
    kind, _, named = why.partition(" ")
    texts = loaded(_CODE)["texts"]
    text = texts["other_always"] if kind == "other" and not dtypes else texts[kind]
    return {
        "ops": sorted(set(names)),
        "code": _CODES[kind],
        "verdict": "unsupported",
        "text": text.replace("{onnx}", named).replace("{leaf}", named),
        "at": [_CITES[kind]],
        **converters.of_dtypes(argument, dtypes),
        **({"chips": [_CPU]} if kind == "kernel" else {}),
    }


def _releases() -> Iterable[Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = loaded(_CODE)["releases"]
    return found.values()


def _listed() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = _lowerings()["overloads"]
    return found


def _lowerings() -> Mapping[str, Any]:
    return loaded(_LOWERINGS)
