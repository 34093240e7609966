"""Calls that the generated code hands to the host CPU for their dtypes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from opcheck.db.importers.shared.operator_list import Function

Condition = dict[str, Any]
Tests = list[dict[str, Any]]

Names = Mapping[str, tuple[str, ...]]
LAZY: Names = {
    "BFloat16": ("bfloat16",),
    "Byte": ("uint8",),
    "Char": ("int8", "bool"),
    "Float": ("float32", "float64"),
    "Float8_e4m3fn": ("float8_e4m3fn",),
    "Float8_e5m2": ("float8_e5m2",),
    "Half": ("float16",),
    "Int": ("int32", "int64"),
    "Long": ("int64",),
    "Short": ("int16",),
}
"""A dtype of the list -> what it stands for: the generator adds Double to Float and Bool to Char
(``generate_dtype_macro``), and lazy mode takes int64 for int32 (``SupportedDtypes::count``)."""
EAGER: Names = {**LAZY, "Int": ("int32",)}
"""The same in eager mode, where int64 is itself (``IsInt64Supported``)."""
_INTEGERS = ("bool", "int16", "int32", "int64", "int8", "uint8")
_OTHERS = (
    "bfloat16", "complex128", "complex64", "float16", "float32", "float64", "float8_e4m3fn",
    "float8_e5m2",
)  # fmt: skip
_TENSOR = re.compile(r"\bTensor (\w+)")
"""An argument whose dtype is looked at: no list, and none that may be left out."""
_UNSEEN = re.compile(r"Tensor[?\[]")
_TEXT = "{argument} is {actual}; the kernel hands the call to the host CPU"
_CHIP = {"Gaudi2": "gaudi2", "Gaudi3": "gaudi3"}


def conditions(
    listed: Mapping[str, Mapping[str, Any]],
    functions: Mapping[str, Function],
    names: Names = LAZY,
) -> Iterator[Condition]:
    """The conditions of every operator for which the list itself decides."""
    for name, said in sorted(listed.items()):
        if said["by"] == "dtypes" and "namespace" not in said:
            for chip, tests in _cases(said, functions[name], names):
                yield {
                    "ops": [f"aten::{name}"],
                    "code": "dtype-not-supported",
                    "verdict": "fallback",
                    "text": _TEXT,
                    "at": [f"list:{said['dtypes_at']}"],
                    **({"chips": [chip]} if chip else {}),
                    "tests": tests,
                }


def _cases(
    said: Mapping[str, Any], function: Function, names: Names
) -> Iterator[tuple[str, Tests]]:
    """For which chip, "" for both, and the tests that all hold."""
    dtypes = said["dtypes"]
    cases = _promoted if "promotes" in said else _separate
    if not (isinstance(dtypes, Mapping) and dtypes.keys() <= _CHIP.keys()):
        yield from (("", tests) for tests in cases(said, dtypes, function, names))
        return
    found = {_CHIP[chip]: list(cases(said, only, function, names)) for chip, only in dtypes.items()}
    alike = all(tests == found["gaudi2"] for tests in found.values())
    for chip, every in {"": found["gaudi2"]}.items() if alike else found.items():
        yield from ((chip, tests) for tests in every)


def _separate(
    _: Mapping[str, Any], found: Any, function: Function, names: Names
) -> Iterator[Tests]:
    """Every tensor is looked at by itself, but for lists and those that may be left out."""
    arguments = _TENSOR.findall(function.signature)
    if not isinstance(found, Mapping) and len(arguments) > 1 and _reads_no_more(function):
        arguments = ["*"]
    for argument in arguments:
        only = found.get(argument) if isinstance(found, Mapping) else found
        if only is not None:
            yield [{"subject": "dtype", "argument": argument, "none_of": _taken(only, names)}]


def _reads_no_more(function: Function) -> bool:
    """Whether a call has no other tensors: the dtype of a result is not looked at."""
    return not (function.writes or _UNSEEN.search(function.signature))


def _promoted(
    said: Mapping[str, Any], found: Any, function: Function, names: Names
) -> Iterator[Tests]:
    """The dtype that the arguments are promoted to is looked at, or the one that is asked for.

    It is refused for sure where that of every argument is.
    """
    taken = _taken(found, names)
    tensors = [name for name in said["promotes"] if name in _TENSOR.findall(function.signature)]
    scalars = [name for name in said["promotes"] if name not in tensors]
    integers = [] if said.get("floats") else [name for name in _INTEGERS if name not in taken]
    others = [name for name in _OTHERS if name not in taken]
    given = [{"subject": "value", "argument": "dtype", "one_of": ["None"], "default": "None"}]
    asked = given if function.takes_dtype else []
    refused = [*integers, *others] if not scalars else others
    if tensors and refused:
        yield [*(_one_of(name, refused) for name in tensors), *asked]
    if tensors and scalars and integers:
        kinds = ["bool", "int"]
        yield [
            *(_one_of(name, integers) for name in tensors),
            *({"subject": "number-type", "argument": s, "one_of": kinds} for s in scalars),
            *asked,
        ]


def _one_of(argument: str, dtypes: list[str]) -> dict[str, Any]:
    return {"subject": "dtype", "argument": argument, "one_of": dtypes}


def _taken(dtypes: Iterable[str], names: Names) -> list[str]:
    """What a list takes, by torch's names."""
    return sorted({name for dtype in dtypes for name in names[dtype]})
