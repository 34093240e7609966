"""What the Vulkan partitioner leaves to the portable kernels, by what ``vulkan`` read of it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.executorch.conditions import (
    Facts,
    Listed,
    argument_of,
    left,
    left_by_facts,
)
from opcheck.db.importers.shared.converters import Functions

CHIP = "vulkan"
_FILE = Path(__file__).with_name("executorch_vulkan.yaml")
_KEPT = frozenset({"aten::hardswish", "aten::pixel_shuffle", "aten::upsample_nearest2d.vec"})
"""Composites that the partitioner has PyTorch leave whole."""
_LEFT_UNLESS = {
    "aten::empty.memory_format": ("size", "[0]"), "aten::native_batch_norm": ("training", "False")
}  # fmt: skip
"""What is left but with a value of an argument, as of XNNPACK."""
_REMOVED = frozenset({"aten::detach", "aten::alias", "aten::alias_copy"})
_PROMOTED = frozenset({
    "aten::add.Tensor", "aten::mul.Tensor", "aten::sub.Tensor", "aten::div.Tensor",
    "aten::div.Tensor_mode", "aten::minimum",
})  # fmt: skip
"""What ``RemoveMixedTypeOperators`` casts the tensors of to one dtype, before partitions are
made."""
_CAST = "aten::_to_copy"
_NO_TENSORS = "none"
_AT = {
    "registry": "vulkan:op_registry.py",
    "unregistered": "vulkan:partitioner/vulkan_partitioner.py:248",
    "dtype": "vulkan:utils.py:377", "flat": "vulkan:utils.py:483", "extents": "vulkan:utils.py:810",
}  # fmt: skip
_FLAT = 4
"""Dimensions of a tensor that a texture holds."""
_TEXTURE = "CHANNELS_PACKED_TEXTURE"
_EXTENTS = ((-1, 16384), (-2, 16384), (-3, 8192))
"""Dimension and its largest size in such a texture: ``DEFAULT_TEXTURE_LIMITS``, four channels in
a texel."""
_PREPACKED = frozenset({"aten::convolution", "aten::grid_sampler_2d"})
"""Whose other tensors do not have to be textures."""


def left_by_vulkan(
    own: Listed, operators: Listed, known: Functions, texts: Mapping[str, str], facts: Facts
) -> Iterator[dict[str, Any]]:
    """Each condition on which a call is left."""
    come = {name: said for name, said in own.items() if "always" not in said}
    whole = {name: found for name, said in come.items() if (found := _registered(name, said))}
    parts = {
        name: found for name, said in come.items()
        if name not in whole and "tried" in said and (found := _read()["parts"].get(name))
    }  # fmt: skip
    yield from _unregistered(come, {*whole, *parts, *_REMOVED}, texts)
    yield from _by_dtype_of_whole(whole, known, texts)
    yield from _by_dtype_of_parts(parts, known, texts)
    flat = sorted(name for name, said in {**whole, **parts}.items() if said.get("flat"))
    yield from _by_rank(flat, texts)
    textures = [name for name, said in whole.items() if said["lies"] == _TEXTURE]
    yield from _by_extents(sorted(textures), texts["vulkan_extents"])
    yield from left_by_facts(CHIP, facts, operators)


def _registered(name: str, said: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The registration that takes a call whole; None of one that PyTorch takes apart before."""
    if "tried" in said and name not in _KEPT:
        return None
    found: Mapping[str, Any] | None = _read()["registered"].get(said.get("edge_name", name))
    return found


def _unregistered(
    come: Listed, taken: set[str], texts: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for whole, text in ((True, texts["vulkan_left"]), (False, texts["vulkan_parts"])):
        names = sorted(
            name for name, said in come.items()
            if name not in taken and ("tried" not in said) is whole
        )  # fmt: skip
        always = [name for name in names if name not in _LEFT_UNLESS]
        yield left(CHIP, always, text, [_AT["unregistered"]])
        for name in (name for name in names if name in _LEFT_UNLESS):
            argument, value = _LEFT_UNLESS[name]
            tests = [{"subject": "value", "argument": argument, "none_of": [value]}]
            yield {**left(CHIP, [name], text, [_AT["unregistered"]]), "tests": tests}


def _by_dtype_of_whole(
    whole: Listed, known: Functions, texts: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """What the registry has no dtype of, for each registration."""
    by: dict[tuple[int, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, said in whole.items():
        for argument, dtypes in _dtypes(name, said, known):
            by[said["line"], argument, tuple(dtypes)].append(name)
    for (line, argument, dtypes), names in sorted(by.items()):
        text = texts["vulkan_result" if argument == "return" else "vulkan_dtype"]
        yield _on_dtype(sorted(names), argument, dtypes, text, f"{_AT['registry']}:{line}")


def _dtypes(
    name: str, said: Mapping[str, Any], known: Functions
) -> Iterator[tuple[str, Sequence[str]]]:
    """Each argument, or the result, with the dtypes that it may have."""
    takes, gives = said["takes"], sorted({dtype for each in said["gives"] for dtype in each})
    function = known.get(name.removeprefix("aten::"))
    tensors = function.tensors if function is not None else ()
    if name in _PROMOTED:
        yield "*", _read()["registered"][_CAST]["takes"][0]
    elif len(takes) > 1:
        yield from zip(tensors, takes, strict=False)
    elif tensors:
        yield "*", takes[0]
    yield "return", gives


def _by_dtype_of_parts(
    parts: Listed, known: Functions, texts: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Dtypes in which some of what a call becomes is left."""
    by: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, said in parts.items():
        made = said["takes"] == [_NO_TENSORS]
        dtypes = _read()["registered"]["aten::arange.start_step"]["gives"][0]
        argument = "return" if made else argument_of(name, known)
        by[argument, tuple(dtypes if made else said["takes"])].append(name)
    for (argument, listed), names in sorted(by.items()):
        text = texts["vulkan_result" if argument == "return" else "vulkan_parts_dtype"]
        yield _on_dtype(sorted(names), argument, listed, text, _AT["dtype"])
    dtypes = _read()["registered"][_CAST]["takes"][0]
    yield _on_dtype(sorted(parts), "return", dtypes, texts["vulkan_result"], _AT["dtype"])


def _on_dtype(
    names: list[str], argument: str, dtypes: Sequence[str], text: str, at: str
) -> dict[str, Any]:
    tests = [{"subject": "dtype", "argument": argument, "none_of": list(dtypes)}]
    return {**left(CHIP, names, text, [at]), "tests": tests}


def _by_rank(names: list[str], texts: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for argument, text in (("*", "vulkan_rank"), ("return", "vulkan_rank_result")):
        tests = [{"subject": "rank", "argument": argument, "maximum": _FLAT}]
        yield {**left(CHIP, names, texts[text], [_AT["flat"]]), "tests": tests}


def _by_extents(names: list[str], text: str) -> Iterator[dict[str, Any]]:
    """Sizes beyond those of a texture."""
    for argument in ("*", "input", "return"):
        ops = [
            name for name in names
            if argument == "return" or (name in _PREPACKED) is (argument == "input")
        ]  # fmt: skip
        for dim, most in _EXTENTS:
            tests = [{"subject": "size", "argument": argument, "dim": dim, "maximum": most}]
            yield {**left(CHIP, ops, text, [_AT["extents"]]), "tests": tests}


@cache
def _read() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_FILE)
    return data
