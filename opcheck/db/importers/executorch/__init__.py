"""ExecuTorch: what its edge dialect takes, its kernels, and what its delegates leave to them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import Importer, ReleaseFile, VendorFile, load_yaml
from opcheck.db.importers.executorch import vulkan_left, xnnpack
from opcheck.db.importers.executorch.conditions import Functions, argument_of, told
from opcheck.db.importers.shared import facts, operator_list
from opcheck.db.versions import version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

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
_RESHAPED = "aten::_reshape_alias"
_BY_SIZE = frozenset({"aten::resize_", "aten::resize_as_"})
"""Refused by what a call makes of a size, which the facts state: samples tell dtypes alone."""


_DELEGATES = {
    xnnpack.CHIP: xnnpack.left_by_xnnpack, vulkan_left.CHIP: vulkan_left.left_by_vulkan
}  # fmt: skip
"""Chip -> what its partitioner leaves."""


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
    yield told(apart, "decomposed-before-conversion", "decomposed", texts["decomposed"],
                ["decompositions"])  # fmt: skip
    yield _in_complex(apart)
    untried = told(list(_untried(known)), "decomposed-before-conversion", "unknown",
                    texts["untried"], ["decompositions"])  # fmt: skip
    yield {**untried, "confidence": "low", "method": "inferred"}
    for chip, left in _DELEGATES.items():
        yield from left(own, operators, known, texts, _code()[chip])


Refused = tuple[str, str, tuple[str, ...], str]
"""Why, the argument and the dtypes, and whether these are those refused or all others are."""


def _refused(own: Mapping[str, Mapping[str, Any]], known: Functions) -> dict[Refused, list[str]]:
    """Each refusal with the overloads that it is of."""
    found: dict[Refused, list[str]] = defaultdict(list)
    for name, said in own.items():
        argument = argument_of(name, known)
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


def _refusal(
    why: str, argument: str, dtypes: tuple[str, ...], bound: str, names: list[str]
) -> dict[str, Any]:
    some = why.startswith("some ")
    kind, part, *of_parts = [*why.removeprefix("some ").split(" "), ""]
    own = "some" if some else f"{kind}_part" if any(of_parts) else kind
    text = _code()["texts"][own].replace("{part}", part)
    tests = [{"subject": "dtype", "argument": argument, bound: list(dtypes)}]
    return {
        **told(sorted(set(names)), "part-may-be-refused" if some else _CODES[kind],
                "unknown" if some else "unsupported", text, [_CITES[kind]]),
        **({"confidence": "low", "method": "inferred"} if some else {}),
        **({"tests": tests} if dtypes else {}),
    }  # fmt: skip


def _in_complex(apart: list[str]) -> dict[str, Any]:
    """What is decomposed and no call in complex numbers was tried of: few kernels take any."""
    dtypes = {"complex64", "complex32"}
    names = [name for name in apart if not dtypes & set(_listed()[name]["tried"])]
    return {
        **told(names, "numbers-not-looked-up", "unknown", _code()["texts"]["untried_dtypes"],
                ["decompositions"]),
        "confidence": "low",
        "method": "inferred",
        "tests": [{"subject": "dtype", "argument": "*", "one_of": ["complex64", "complex128"]}],
    }  # fmt: skip


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
