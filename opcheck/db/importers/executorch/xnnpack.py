"""What XNNPACK's partitioner leaves to the portable kernels."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from opcheck.db.importers.executorch.conditions import (
    Facts,
    Listed,
    argument_of,
    left,
    left_by_facts,
)
from opcheck.db.importers.shared.converters import Functions

CHIP = "xnnpack"
_DELEGATED = ("float32", "float16")
_LEFT_UNLESS: Mapping[str, tuple[str, str, str]] = {
    "aten::empty.memory_format": ("size", "[0]", "decomposed:2339"),
    "aten::native_batch_norm": ("training", "False", "xnnpack:node_configs.py:27"),
}
"""What is left but with a value of an argument: tensors without elements are in no graph, as the
one that batch norm makes for cuDNN alone; and batch norm is delegated in evaluation."""
_OTHERS_ANY = frozenset({"aten::max.dim"})
"""What a config looks at the first tensor of alone: ``node_configs.py`` 75."""


def left_by_xnnpack(
    own: Listed, operators: Listed, known: Functions, texts: Mapping[str, str], facts: Facts
) -> Iterator[dict[str, Any]]:
    """Each condition on which a call is left."""
    by: dict[str, list[str]] = defaultdict(list)
    for name, said in own.items():
        by[said["delegated"]].append(name)
    for whole, text in ((True, texts["left"]), (False, texts["left_parts"])):
        names = sorted(
            name for kind in ("none", "some") for name in by[kind]
            if ("kernel" in own[name] or "primitive" in own[name]) is whole
        )  # fmt: skip
        yield from _left_whole(names, text)
    yield from _left_by_tensors(own, by["all"], known, texts)
    yield from left_by_facts(CHIP, facts, operators)


def _left_whole(names: list[str], text: str) -> Iterator[dict[str, Any]]:
    """What the partitioner has no config for, whatever its tensors."""
    always = [name for name in names if name not in _LEFT_UNLESS]
    yield left(CHIP, always, text, ["xnnpack:__init__.py:78"])
    for name in (name for name in names if name in _LEFT_UNLESS):
        argument, value, unless = _LEFT_UNLESS[name]
        tests = [{"subject": "value", "argument": argument, "none_of": [value]}]
        yield {**left(CHIP, [name], text, ["xnnpack:__init__.py:78", unless]), "tests": tests}


def _left_by_tensors(
    own: Listed, taken: list[str], known: Functions, texts: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """What the partitioner leaves of what it has configs for: other dtypes, and empty tensors."""
    by: dict[str, list[str]] = defaultdict(list)
    for name in taken:
        whole = "kernel" in own[name] and name not in _OTHERS_ANY
        by["*" if whole else argument_of(name, known)].append(name)
    for argument, names in by.items():
        tests = [{"subject": "dtype", "argument": argument, "none_of": list(_DELEGATED)}]
        found = left(CHIP, sorted(names), texts["left_dtype"], ["xnnpack:xnnpack_config.py:183"])
        yield {**found, "tests": tests}
    empty = [{"subject": "numel", "argument": "*", "minimum": 1}]
    found = left(CHIP, sorted(taken), texts["left_empty"], ["xnnpack:xnnpack_config.py:180"])
    yield {**found, "tests": empty}
