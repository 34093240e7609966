"""ExecuTorch: what its edge dialect takes, its kernels, and what its delegates leave to them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import loaded
from opcheck.db.importers.executorch import vulkan_left, xnnpack
from opcheck.db.importers.executorch.conditions import argument_of, told
from opcheck.db.importers.shared import converters, facts
from opcheck.db.importers.shared.converters import Condition, Functions, Operators

_CODE = Path(__file__).with_name("executorch_code.yaml")
_LOWERINGS = Path(__file__).with_name("executorch_lowerings.yaml")
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
_BY_SIZE = frozenset({"aten::resize_", "aten::resize_as_"})
"""Refused by what a call makes of a size, which the facts state: samples tell dtypes alone."""


_DELEGATES = {
    xnnpack.CHIP: xnnpack.left_by_xnnpack, vulkan_left.CHIP: vulkan_left.left_by_vulkan
}  # fmt: skip
"""Chip -> what its partitioner leaves."""


class ExecuTorchImporter(converters.ConverterImporter):
    """Reads what was extracted of ExecuTorch's kernels, and of PyTorch's decompositions."""

    name = "executorch"
    title = "ExecuTorch"
    device_type = "executorch"
    about = "Operators that ExecuTorch {release} lowers and runs on the CPU"
    code_file = _CODE

    def registered(self, known: Functions, release: str) -> Operators:
        """Give what has a kernel, is decomposed, and is served by another form."""
        return registered(known)

    def conditions(
        self, operators: Operators, known: Functions, release: str
    ) -> Iterator[Condition]:
        """Give what is refused, what is decomposed, and what delegates leave."""
        return _conditions(operators, known)


def registered(known: Functions) -> Operators:
    """Overload -> entry: with a kernel, decomposed, and served by another form."""
    found = {
        name: _entry(said)
        for name, said in _listed().items()
        if converters.models_call(name, known)
        and _has_way(name, said)
        and _decides(name, said, known)
    }
    found |= {name: _entry({}) for name in _untried(known)}
    own = (name for name in sorted(found) if not converters.writes(name, known))
    formed = converters.with_forms(found, own, known)
    return converters.with_reshaped(
        {
            name: entry
            for name, entry in formed.items()
            if name in found or known[name.removeprefix("aten::")].base.endswith("_")
        }
    )  # models hardly name an out overload


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
    return "tried" not in said or name in _WHOLE or not converters.is_implicit(name, known)


def _untried(known: Functions) -> Iterator[str]:
    """What the table decomposes of what models call without gradients, and no sample called."""
    for name in _lowerings()["untried"]:
        own = (
            converters.models_call(name, known)
            and not converters.is_implicit(name, known)
            and not converters.writes(name, known)
        )
        if own and "backward" not in name and name != converters.RESHAPED:
            yield name


def _conditions(
    operators: Mapping[str, Mapping[str, Any]], known: Functions
) -> Iterator[dict[str, Any]]:
    own = converters.own_entries(_listed(), operators)
    sampled = {name: said for name, said in own.items() if name not in _BY_SIZE}
    for (why, argument, dtypes, bound), names in _refused(sampled, known).items():
        yield _refusal(why, argument, dtypes, bound, names)
    for fact in loaded(_CODE)["facts"]:
        yield from facts.cases(fact, operators, fact["at"])
    apart = sorted(
        name for name, said in own.items()
        if "tried" in said and (name in _BY_SIZE or not _never(said))
    )  # fmt: skip
    texts = loaded(_CODE)["texts"]
    yield converters.apart(apart, texts["decomposed"], "decompositions")
    yield _in_complex(apart)
    untried = converters.apart(list(_untried(known)), texts["untried"], "decompositions")
    yield converters.unsure(untried)
    for chip, left in _DELEGATES.items():
        yield from left(own, operators, known, texts, loaded(_CODE)[chip])


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
    text = loaded(_CODE)["texts"][own].replace("{part}", part)
    return {
        **told(sorted(set(names)), "part-may-be-refused" if some else _CODES[kind],
                "unknown" if some else "unsupported", text, [_CITES[kind]]),
        **({"confidence": "low", "method": "inferred"} if some else {}),
        **converters.of_dtypes(argument, dtypes, bound),
    }  # fmt: skip


def _in_complex(apart: list[str]) -> dict[str, Any]:
    """What is decomposed and no call in complex numbers was tried of: few kernels take any."""
    dtypes = {"complex64", "complex32"}
    names = [name for name in apart if not dtypes & set(_listed()[name]["tried"])]
    text = loaded(_CODE)["texts"]["untried_dtypes"]
    found = converters.not_looked_up(names, text, "decompositions")
    return found | converters.of_dtypes("*", converters.COMPLEX)


def _listed() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = _lowerings()["overloads"]
    return found


def _lowerings() -> Mapping[str, Any]:
    return loaded(_LOWERINGS)
