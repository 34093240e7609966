"""ExecuTorch on the CPU: what its edge dialect takes, its kernels, and what XNNPACK is left."""

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
_KEY = "CPU"
"""What PyTorch runs the model on while it is captured; a kernel has no dispatch key."""
_CODE = Path(__file__).with_name("executorch_code.yaml")
_LOWERINGS = Path(__file__).with_name("executorch_lowerings.yaml")
_NAMESPACES = ("aten", "torchvision", "quantized_decomposed")
"""Of the overloads that models call; others are met inside of decompositions alone."""
_WHOLE = frozenset({
    "aten::scaled_dot_product_attention", "aten::linear", "aten::max_pool2d", "aten::prelu",
    "aten::lstm.input", "aten::gru.input", "aten::rnn_tanh.input", "aten::rnn_relu.input",
    "aten::upsample_nearest1d.vec", "aten::upsample_nearest3d.vec", "aten::upsample_linear1d.vec",
    "aten::upsample_trilinear3d.vec", "aten::upsample_bicubic2d.vec",
    "aten::_upsample_nearest_exact1d.vec", "aten::_upsample_nearest_exact2d.vec",
    "aten::_upsample_nearest_exact3d.vec",
})  # fmt: skip
"""Composites that PyTorch takes apart otherwise on another device or in Python, and those that
XNNPACK's partitioner keeps."""
_CITES = {
    "verifier": "verifier:156", "edge": "edge", "variant": "variants:455", "kernel": "method:821",
    "dtype": "kernels",
}  # fmt: skip
_CODES = {
    "verifier": "not-core-aten", "edge": "edge-refuses-dtype", "variant": "no-out-variant",
    "kernel": "no-runtime-kernel", "dtype": "dtype-not-supported",
}  # fmt: skip
_XNNPACK = "xnnpack"
_DELEGATED = ("float32", "float16")
_RESHAPED = "aten::_reshape_alias"
_BY_SIZE = frozenset({"aten::resize_", "aten::resize_as_"})
"""Refused by what a call makes of a size, which the facts state: samples tell dtypes alone."""
_LEFT_UNLESS: Mapping[str, tuple[str, str, str]] = {
    "aten::empty.memory_format": ("size", "[0]", "decomposed:2339"),
    "aten::native_batch_norm": ("training", "False", "xnnpack:node_configs.py:27"),
}
"""What is left but with a value of an argument: tensors without elements are in no graph, as the
one that batch norm makes for cuDNN alone; and batch norm is delegated in evaluation."""
_OTHERS_ANY = frozenset({"aten::max.dim"})
"""What a config looks at the first tensor of alone: ``node_configs.py`` 75."""


class ExecuTorchImporter(Importer):
    """Reads what was extracted of ExecuTorch's kernels, and of PyTorch's decompositions."""

    name = "executorch"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases of ExecuTorch whose sources were read."""
        return tuple(sorted(_code()["releases"], key=version_key))

    def run(self, sources: Path, release: str) -> str:
        """Give the text of the matrix file of one release."""
        known = self.releases(sources)
        if release not in known:
            raise DatabaseError(
                Sentence("no kernels of ExecuTorch {version} were read", version=release),
                Sentence("known releases: {list}", list=", ".join(known)),
            )
        return _release(sources, release).text()

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give ``vendor.yaml``."""
        return {"vendor.yaml": _vendor().text()}


def registered(known: Functions) -> dict[str, dict[str, Any]]:
    """Overload -> entry: with a kernel, decomposed, and served by another form."""
    found = {
        name: _entry(said)
        for name, said in _listed().items()
        if _models_call(name, known) and _has_way(name, said) and _decides(name, said, known)
    }
    found |= {name: _entry({}) for name in _untried(known)}
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
        if known[name].base.endswith("_")  # models hardly name an out overload
    }
    if "aten::view" in found:  # what a captured graph has in its place
        at = found["aten::view"]["at"]
        served[_RESHAPED] = {"at": at, "impl": ["aten::view"], "method": "dispatcher"}
    return {**found, **served}


def _entry(said: Mapping[str, Any]) -> dict[str, Any]:
    if "kernel" in said:
        return {"at": f"kernels:{said['at'].removeprefix('kernels/')}", "impl": [said["kernel"]]}
    if "primitive" in said:
        return {"at": "primitives", "impl": ["primitive"]}
    if "always" in said:
        return {"at": "verifier", "impl": ["edge"]}
    return {"at": "decompositions", "impl": ["decomposition"]}


def _has_way(name: str, said: Mapping[str, Any]) -> bool:
    """Whether the edge dialect has it at all: of what it has not, the verifier's own words tell."""
    return bool(said.get("always", "") != f"verifier {name}")


def _decides(name: str, said: Mapping[str, Any], known: Functions) -> bool:
    """Whether its own entry decides, and not the parts that PyTorch takes it apart into."""
    return "tried" not in said or name in _WHOLE or not _implicit(name, known)


def _untried(known: Functions) -> Iterator[str]:
    """What the table decomposes of what models call without gradients, and no sample called."""
    for name in _lowerings()["untried"]:
        own = _models_call(name, known) and not _implicit(name, known) and not _writes(name, known)
        if own and "backward" not in name and name != _RESHAPED:
            yield name


def _models_call(name: str, known: Functions) -> bool:
    namespace, _, rest = name.partition("::")
    return namespace in _NAMESPACES and (namespace != "aten" or rest in known)


def _implicit(name: str, known: Functions) -> bool:
    """Whether PyTorch takes it apart by its arguments, so that a call's own parts decide."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.kind == operator_list.IMPLICIT


def _writes(name: str, known: Functions) -> bool:
    """Whether it writes to an argument: torch.export puts the functional form in its place."""
    function = known.get(name.removeprefix("aten::"))
    return function is not None and function.writes


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
        vendor=ExecuTorchImporter.name,
        release=release,
        about=f"Operators that ExecuTorch {release} lowers and runs on the CPU",
        torch=(said["torch"],),
        sources=said["sources"],
        operators=operators,
        conditions=found,
        advisories=tuple(_code()["advisories"]),
        key=_KEY,
    )


def _conditions(
    operators: Mapping[str, Mapping[str, Any]], known: Functions
) -> Iterator[dict[str, Any]]:
    own = {
        name: said
        for name, said in _listed().items()
        if name in operators and "method" not in operators[name]
    }
    sampled = {name: said for name, said in own.items() if name not in _BY_SIZE}
    for (why, argument, dtypes, bound), names in _refused(sampled, known).items():
        yield _refusal(why, argument, dtypes, bound, names)
    for fact in _code()["facts"]:
        yield from facts.cases(fact, operators, fact["at"])
    apart = sorted(
        name for name, said in own.items()
        if "tried" in said and (name in _BY_SIZE or not _never(said))
    )  # fmt: skip
    texts = _code()["texts"]
    yield _said(apart, "decomposed-before-conversion", "decomposed", texts["decomposed"],
                ["decompositions"])  # fmt: skip
    yield _in_complex(apart)
    untried = _said(list(_untried(known)), "decomposed-before-conversion", "unknown",
                    texts["untried"], ["decompositions"])  # fmt: skip
    yield {**untried, "confidence": "low", "method": "inferred"}
    yield from _left(own, operators, known)


Refused = tuple[str, str, tuple[str, ...], str]
"""Why, the argument and the dtypes, and whether these are those refused or all others are."""


def _refused(own: Mapping[str, Mapping[str, Any]], known: Functions) -> dict[Refused, list[str]]:
    """Each refusal with the overloads that it is of."""
    found: dict[Refused, list[str]] = defaultdict(list)
    for name, said in own.items():
        argument = _argument(name, known)
        for why, dtypes, bound in _reasons(name, said):
            found[why, argument if dtypes else "", dtypes, bound].append(name)
    return found


def _reasons(name: str, said: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Each reason, its dtypes and their bound; () of one that holds for every call."""
    if "always" in said:
        yield said["always"], (), ""
    if said.get("edge"):
        yield "edge", tuple(said["edge"]), "none_of"
    if said.get("takes"):
        yield "dtype", tuple(said["takes"]), "none_of"
    by: dict[str, list[str]] = defaultdict(list)
    for key, sign in (("not", ""), ("some", "some ")):
        for dtype, why in said.get(key, {}).items():
            by[sign + why].append(dtype)
    for why, dtypes in by.items():
        always = _never(said) and len(by) == 1
        named = () if always else tuple(dtype for dtype in dtypes if dtype != "none")
        yield f"{why} part", named, "one_of"


def _never(said: Mapping[str, Any]) -> bool:
    """Whether no call of any dtype came through."""
    return bool(said.get("not")) and set(said["tried"]) == set(said["not"])


def _argument(name: str, known: Functions) -> str:
    """The tensor of a call whose dtype was noted."""
    if name == "aten::where.self":
        return "self"
    function = known.get(name.removeprefix("aten::"))
    return function.tensors[0] if function is not None and function.tensors else "*"


def _refusal(
    why: str, argument: str, dtypes: tuple[str, ...], bound: str, names: list[str]
) -> dict[str, Any]:
    some = why.startswith("some ")
    kind, part, *of_parts = [*why.removeprefix("some ").split(" "), ""]
    own = "some" if some else f"{kind}_part" if any(of_parts) else kind
    text = _code()["texts"][own].replace("{part}", part)
    tests = [{"subject": "dtype", "argument": argument, bound: list(dtypes)}]
    return {
        **_said(sorted(set(names)), "part-may-be-refused" if some else _CODES[kind],
                "unknown" if some else "unsupported", text, [_CITES[kind]]),
        **({"confidence": "low", "method": "inferred"} if some else {}),
        **({"tests": tests} if dtypes else {}),
    }  # fmt: skip


def _said(names: list[str], code: str, verdict: str, text: str, at: list[str]) -> dict[str, Any]:
    return {
        "ops": names, "code": code, "verdict": verdict, "confidence": "high",
        "method": "registered", "text": text, "at": at,
    }  # fmt: skip


def _in_complex(apart: list[str]) -> dict[str, Any]:
    """What is decomposed and no call in complex numbers was tried of: few kernels take any."""
    dtypes = {"complex64", "complex32"}
    names = [name for name in apart if not dtypes & set(_listed()[name]["tried"])]
    return {
        **_said(names, "numbers-not-looked-up", "unknown", _code()["texts"]["untried_dtypes"],
                ["decompositions"]),
        "confidence": "low",
        "method": "inferred",
        "tests": [{"subject": "dtype", "argument": "*", "one_of": ["complex64", "complex128"]}],
    }  # fmt: skip


def _left(
    own: Mapping[str, Mapping[str, Any]], operators: Mapping[str, Any], known: Functions
) -> Iterator[dict[str, Any]]:
    """What XNNPACK's partitioner leaves to the portable kernels."""
    texts, by = _code()["texts"], defaultdict(list)
    for name, said in own.items():
        by[said["delegated"]].append(name)
    for whole, text in ((True, texts["left"]), (False, texts["left_parts"])):
        names = sorted(
            name for kind in ("none", "some") for name in by[kind]
            if ("kernel" in own[name] or "primitive" in own[name]) is whole
        )  # fmt: skip
        whole_names = [name for name in names if name not in _LEFT_UNLESS]
        yield _to_portable(whole_names, text, ["xnnpack:__init__.py:78"])
        for name in (name for name in names if name in _LEFT_UNLESS):
            argument, value, unless = _LEFT_UNLESS[name]
            tests = [{"subject": "value", "argument": argument, "none_of": [value]}]
            at = ["xnnpack:__init__.py:78", unless]
            yield {**_to_portable([name], text, at), "tests": tests}
    yield from _left_by_tensors(own, by["all"], known)
    for fact in _code()["xnnpack"]:
        for tests in fact["cases"]:
            names = [name for name in fact["ops"] if name in operators]
            left = _to_portable(names, fact["text"], fact["at"])
            yield {**left, "code": fact.get("code", left["code"]), "tests": tests}


def _left_by_tensors(
    own: Mapping[str, Mapping[str, Any]], taken: list[str], known: Functions
) -> Iterator[dict[str, Any]]:
    """What the partitioner leaves of what it has configs for: other dtypes, and empty tensors."""
    texts = _code()["texts"]
    by: dict[str, list[str]] = defaultdict(list)
    for name in taken:
        whole = "kernel" in own[name] and name not in _OTHERS_ANY
        by["*" if whole else _argument(name, known)].append(name)
    for argument, names in by.items():
        tests = [{"subject": "dtype", "argument": argument, "none_of": list(_DELEGATED)}]
        yield {**_to_portable(sorted(names), texts["left_dtype"],
                              ["xnnpack:xnnpack_config.py:183"]), "tests": tests}  # fmt: skip
    empty = [{"subject": "numel", "argument": "*", "minimum": 1}]
    yield {**_to_portable(sorted(taken), texts["left_empty"],
                          ["xnnpack:xnnpack_config.py:180"]), "tests": empty}  # fmt: skip


def _to_portable(names: list[str], text: str, at: list[str]) -> dict[str, Any]:
    found = _said(names, "left-to-portable-kernels", "fallback", text, at)
    return {**found, "chips": [_XNNPACK]}


def _vendor() -> VendorFile:
    code = _code()
    return VendorFile(
        vendor=ExecuTorchImporter.name,
        name="ExecuTorch",
        device_type="executorch",
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
