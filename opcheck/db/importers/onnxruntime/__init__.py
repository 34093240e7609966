"""ONNX Runtime: what torch.onnx converts, and what the runtime's providers have kernels for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.onnxruntime import placed
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_KEY = "CPU"
"""What PyTorch runs the model on while it is captured; a converter has no dispatch key."""
_CPU = "cpu"
_CODE = Path(__file__).with_name("onnxruntime_code.yaml")
_LOWERINGS = Path(__file__).with_name("onnxruntime_lowerings.yaml")
_NAMESPACES = ("aten", "torchvision", "quantized_decomposed")
"""Of the overloads that models call; others are met inside of decompositions alone."""
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


class OnnxRuntimeImporter(Importer):
    """Reads what was extracted of torch.onnx's registry and of ONNX Runtime's kernels."""

    name = "onnxruntime"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of ONNX Runtime whose kernels were read."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no kernels of ONNX Runtime {version} were read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(known: Mapping[str, operator_list.Function]) -> dict[str, dict[str, Any]]:
    """Overload -> entry: converted, decomposed by the table, and served by another form."""
    found = {
        name: _entry(said)
        for name, said in _listed().items()
        if _models_call(name, known) and ("at" in said or not _implicit(name, known))
    }
    found |= {
        name: {"at": "table", "impl": ["decomposition"]}
        for name in _lowerings()["decomposed"]
        if _models_call(name, known) and _needs_table(name, known)
    }
    written = {
        name for name in found if "at" not in _listed().get(name, {}) and _writes(name, known)
    }
    own = dict.fromkeys(  # in order, for several overloads may share a form
        name.removeprefix("aten::")
        for name in sorted(found)
        if name.startswith("aten::") and name not in written
    )
    served = {
        f"aten::{name}": {
            "at": found[f"aten::{form}"]["at"],
            "impl": [f"aten::{form}"],
            "method": "dispatcher",
        }
        for name, form in operator_list.written_forms(own, known).items()
    }
    return {**found, **served, **_code()["entries"]}


def _writes(name: str, known: Mapping[str, operator_list.Function]) -> bool:
    """Whether it writes to an argument: torch.export puts the functional form in its place."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.writes


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    if "at" in said:
        return {"at": said["at"], "impl": ["converter"]}
    return {"at": "table", "impl": ["decomposition"]}


def _models_call(name: str, known: Mapping[str, operator_list.Function]) -> bool:
    namespace, _, rest = name.partition("::")
    return namespace in _NAMESPACES and (namespace != "aten" or rest in known)


def _implicit(name: str, known: Mapping[str, operator_list.Function]) -> bool:
    """Whether PyTorch takes it apart by its arguments, so that a call's own parts decide."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.kind == operator_list.IMPLICIT


def _needs_table(name: str, known: Mapping[str, operator_list.Function]) -> bool:
    """Whether nothing but the table takes it apart, and no other form of it is converted."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and not _implicit(name, known) and not function.writes


def _release(sources: Path, release: str) -> ReleaseFile:
    said = _code()["releases"][release]
    known = operator_list.functions(sources / "pytorch", said["torch"])
    operators = registered(known)
    served = {name: entry["impl"][0] for name, entry in operators.items() if "method" in entry}
    found = tuple(
        {**one, "ops": list(dict.fromkeys(one["ops"]))}
        for one in facts.for_every_form(_conditions(operators, known), served)
    )
    return ReleaseFile(
        vendor=OnnxRuntimeImporter.name,
        release=release,
        about=f"Operators that torch.onnx converts, for providers of ONNX Runtime {release}",
        torch=(said["torch"],),
        sources=said["sources"],
        operators=operators,
        conditions=found,
        advisories=tuple({"chips": list(_code()["chips"]), **each} for each in _advisories()),
        key=_KEY,
        opsets=said["opsets"],
    )


def _advisories() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _code()["advisories"]
    return found


def _conditions(
    operators: Mapping[str, Mapping[str, Any]], known: Mapping[str, operator_list.Function]
) -> Iterator[dict[str, Any]]:
    """What is refused by dtype or always, and what is decomposed; alike operators in one line."""
    refused: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    apart, read = [], {op for fact in _code()["facts"] for op in fact["ops"]}
    for name, said in _listed().items():
        if name not in operators or "method" in operators[name]:
            continue
        for why, dtypes in _reasons(said):
            if why.partition(" ")[0] in _READ and name in read:
                continue  # the code says when
            argument = _argument(name, known)
            refused[why, argument if dtypes else "", dtypes].append(name)
        if "at" not in said and not _never(said):
            apart.append(name)
    for (why, argument, dtypes), names in refused.items():
        yield _refusal(why, argument, dtypes, names)
    yield from _by_opset(operators, known)
    for fact in _code()["facts"]:
        yield from facts.cases(fact, operators, fact["at"])
    listed = {
        name: said
        for name, said in _listed().items()
        if name in operators and "method" not in operators[name]
    }
    yield from placed.conditions(listed, _code(), _every_opset(), known)
    texts = _code()["texts"]
    yield _apart(sorted(apart), texts["decomposed"], "decomposed", "high")
    named = _lowerings()["decomposed"]
    untried = [name for name in named if "method" not in operators.get(name, {"method": ""})]
    yield {**_apart(untried, texts["untried"], "unknown", "low"), "method": "inferred"}


def _every_opset() -> str:
    """The span of all opsets that are written, of any release."""
    spans = {f"{each['opsets']['first']}..{each['opsets']['last']}" for each in _releases()}
    (found,) = spans
    return found


def _by_opset(
    operators: Mapping[str, Mapping[str, Any]], known: Mapping[str, operator_list.Function]
) -> Iterator[dict[str, Any]]:
    """What is refused in some versions of ONNX's operators alone."""
    refused: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for spans, overloads in _lowerings()["opsets"].items():
        for name, dtypes in overloads.items():
            if name in operators and "method" not in operators[name]:
                for dtype, why in dtypes.items():
                    refused[spans, why, _argument(name, known), dtype].append(name)
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


def _argument(name: str, known: Mapping[str, operator_list.Function]) -> str:
    """The first tensor of a call, whose dtype was noted."""
    function = known.get(name.removeprefix("aten::"))
    return function.tensors[0] if function is not None and function.tensors else "*"


def _refusal(why: str, argument: str, dtypes: tuple[str, ...], names: list[str]) -> dict[str, Any]:
    kind, _, named = why.partition(" ")
    texts = _code()["texts"]
    text = texts["other_always"] if kind == "other" and not dtypes else texts[kind]
    tests = [{"subject": "dtype", "argument": argument, "one_of": list(dtypes)}]
    return {
        "ops": sorted(set(names)),
        "code": _CODES[kind],
        "verdict": "unsupported",
        "text": text.replace("{onnx}", named).replace("{leaf}", named),
        "at": [_CITES[kind]],
        **({"tests": tests} if dtypes else {}),
        **({"chips": [_CPU]} if kind == "kernel" else {}),
    }


def _apart(names: list[str], text: str, verdict: str, confidence: str) -> dict[str, Any]:
    return {
        "ops": names,
        "code": "decomposed-before-conversion",
        "verdict": verdict,
        "confidence": confidence,
        "method": "registered",
        "text": text,
        "at": ["table"],
    }


def _vendor() -> VendorFile:
    code = _code()
    return VendorFile(
        vendor=OnnxRuntimeImporter.name,
        name="ONNX Runtime",
        device_type="ort",
        dispatch_key=_KEY,
        inherits=("CIA",),
        kind="export",
        sources=code["sources"],
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


def _releases() -> Iterable[Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = _code()["releases"]
    return found.values()


def _listed() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = _lowerings()["overloads"]
    return found


@cache
def _code() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_CODE)
    return data


@cache
def _lowerings() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_LOWERINGS)
    return data
