"""LiteRT on the CPU: what litert-torch converts of a graph, and the interpreter runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

Functions = Mapping[str, operator_list.Function]
Condition = dict[str, Any]
_KEY = "CPU"
"""What PyTorch runs the model on while it is captured; a converter has no dispatch key."""
_CODE = Path(__file__).with_name("litert_code.yaml")
_LOWERINGS = Path(__file__).with_name("litert_lowerings.yaml")
_RESHAPED = "aten::_reshape_alias"
_JAX = "litert_torch/backend/lowerings/_jax_lowerings/lowerings.py:"
_OWN = "litert_torch/"
_NAMESPACES = ("aten", "torchvision", "quantized_decomposed")
_COMPLEX = ("complex64", "complex128")
_CITES = {
    "runtime": "runtime", "conversion": "converter", "leaf": "decompositions", "capture": "symbols",
}  # fmt: skip
_CODES = {
    "runtime": "dtype-not-supported", "conversion": "converter-raises",
    "leaf": "part-not-converted", "capture": "not-captured",
}  # fmt: skip


class LiteRtImporter(Importer):
    """Reads what was extracted of litert-torch's lowerings and of what became of calls."""

    name = "litert"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of litert-torch whose wheels were asked."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no lowerings of litert-torch {version} were read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(known: Functions) -> dict[str, dict[str, Any]]:
    """Overload -> entry: lowered, decomposed by the table, and served by another form."""
    said = {**_listed(), **{name: {} for name in _lowerings()["decomposed"]}}
    found = {
        name: _entry(each)
        for name, each in sorted(said.items())
        if _models_call(name, known)
        and not _writes(name, known)
        and ("lowering" in each or not _implicit(name, known) or _came_through(each))
    }
    own = dict.fromkeys(  # in order, for several overloads may share a form
        name.removeprefix("aten::") for name in found if name.startswith("aten::")
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
    at = str(said.get("lowering", ""))
    if not at:
        return {"at": "decompositions", "impl": ["decomposition"]}
    if at.startswith(_JAX):
        return {"at": f"jax:{at.removeprefix(_JAX)}", "impl": ["lowering"]}
    return {"at": f"own:{at.removeprefix(_OWN)}", "impl": ["lowering"]}


def _came_through(said: Mapping[str, Any]) -> bool:
    """Whether a call of any dtype did: what the table has of a composite is not PyTorch's own."""
    return bool(set(said.get("tried", ())) - set(_not(said)))


def _models_call(name: str, known: Functions) -> bool:
    namespace, _, rest = name.partition("::")
    return namespace in _NAMESPACES and (namespace != "aten" or rest in known)


def _implicit(name: str, known: Functions) -> bool:
    """Whether PyTorch takes it apart by its arguments, so that a call's own parts decide."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.kind == operator_list.IMPLICIT


def _writes(name: str, known: Functions) -> bool:
    """Whether it writes to an argument: the functional form is in its place in a graph."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and (function.writes or function.kind == "autogen")


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
        vendor=LiteRtImporter.name,
        release=release,
        about=f"Operators that litert-torch {release} converts of exported programs, for the CPU",
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


def _conditions(operators: Mapping[str, Any], known: Functions) -> Iterator[Condition]:
    """What is refused by dtype or always, and what is decomposed; alike operators in one line."""
    texts = _code()["texts"]
    stated = _code()["facts"]
    read = {op for fact in stated for op in fact["ops"]}
    yield from _refusals(operators, known, read)
    for fact in stated:
        yield from facts.cases(fact, operators, fact["at"])
    yield from _untried(operators, known)
    yield from _of_dtypes(operators)
    came, untried = _decomposed(operators)
    if came:
        yield _apart(came, texts["decomposed"], "decomposed", "high")
    yield {**_apart(untried, texts["untried"], "unknown", "low"), "method": "inferred"}


def _untried(operators: Mapping[str, Any], known: Functions) -> Iterator[Condition]:
    """In which dtypes no call was tried: many operators of TensorFlow Lite take few of them."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, said in _listed().items():
        tried = tuple(dtype for dtype in said.get("tried", ()) if dtype != "none")
        if name in operators and tried and _argument(name, known) != "*":
            found[_argument(name, known), tried].append(name)
    for (argument, tried), names in found.items():
        yield {
            "ops": names,
            "code": "numbers-not-looked-up",
            "verdict": "unknown",
            "confidence": "low",
            "method": "inferred",
            "text": _code()["texts"]["untried_dtype"],
            "at": ["converter"],
            "tests": [{"subject": "dtype", "argument": argument, "none_of": [*tried, *_COMPLEX]}],
        }


def _of_dtypes(operators: Mapping[str, Any]) -> Iterator[Condition]:
    """What no call takes, or none by way of JAX."""
    texts = _code()["texts"]
    by_jax = [name for name, entry in operators.items() if _lowered_by_jax(entry, operators)]
    own = [name for name in operators if name not in by_jax]
    for ops, dtypes, text, code, at in (
        (["*"], _code()["dtypes"], "dtypes", "converter-raises", "dtypes:29"),
        (by_jax, _COMPLEX, "complex", "numbers-not-converted", "bridge:242"),
        (own, _COMPLEX, "complex_own", "numbers-not-looked-up", "dtypes:29"),
    ):
        unsure = code == "numbers-not-looked-up"
        yield {
            "ops": ops,
            "code": code,
            "verdict": "unknown" if unsure else "unsupported",
            **({"confidence": "low", "method": "inferred"} if unsure else {}),
            "text": texts[text],
            "at": [at],
            "tests": [{"subject": "dtype", "argument": "*", "one_of": list(dtypes)}],
        }


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
            refused[why, _argument(name, known) if dtypes else "", dtypes].append(name)
    for (why, argument, dtypes), names in refused.items():
        yield _refusal(why, argument, dtypes, names)


def _reasons(said: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason with its dtypes; () of one that holds for every call."""
    by: dict[str, list[str]] = defaultdict(list)
    for dtype, why in said.get("not", {}).items():
        by[why].append(dtype)
    tried = said.get("tried", ())
    for why, dtypes in by.items():
        never = set(tried) == set(said["not"]) and (len(tried) > 1 or why.startswith("leaf"))
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


def _argument(name: str, known: Functions) -> str:
    """The first tensor of a call, whose dtype was noted."""
    function = known.get(name.removeprefix("aten::"))
    return function.tensors[0] if function is not None and function.tensors else "*"


def _refusal(why: str, argument: str, dtypes: tuple[str, ...], names: list[str]) -> Condition:
    kind, _, named = why.partition(" ")
    texts = _code()["texts"]
    text = texts[kind] if dtypes else texts.get(f"{kind}_always", texts[kind])
    tests = [{"subject": "dtype", "argument": argument, "one_of": list(dtypes)}]
    return {
        "ops": sorted(set(names)),
        "code": _CODES[kind] if dtypes or kind != "runtime" else "runtime-refuses",
        "verdict": "unsupported",
        "text": text.replace("{leaf}", named),
        "at": [_CITES[kind]],
        **({"tests": tests} if dtypes else {}),
    }


def _apart(names: list[str], text: str, verdict: str, confidence: str) -> Condition:
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
        vendor=LiteRtImporter.name,
        name="LiteRT",
        device_type="litert",
        dispatch_key=_KEY,
        inherits=("CIA",),
        kind="export",
        sources=code["sources"],
        chips=code["chips"],
        fallback=code["fallback"],
        pairing=tuple(code["paired"]),
        notes=tuple(code["notes"]),
    )


def _listed() -> Mapping[str, Mapping[str, Any]]:
    """What is known of each overload."""
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
