"""Schemas of PyTorch's own operators, without torch, and whether a call of a graph fits its own."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import OpName
from opcheck.source.pt2.values import variant

RELEASE = (2, 13)
"""torch whose schemas they are. A later one may have arguments more, which are not looked at then.
"""
PATH = Path(__file__).with_name(f"schemas@{RELEASE[0]}.{RELEASE[1]}.txt")

_POSITIONAL = 1
_INTEGER = frozenset({"as_int", "as_sym_int"})
_TRUTH = frozenset({"as_bool", "as_sym_bool"})
_REAL = _INTEGER | {"as_float", "as_sym_float"}
_NUMBER = _REAL | _TRUTH | {"as_complex"}
_NONE = frozenset({"as_none"})
_TENSOR = frozenset({"as_tensor"})
_INTEGERS = frozenset({"as_ints", "as_sym_ints"})
_KINDS: Mapping[str, frozenset[str]] = {
    "Tensor": _TENSOR | _NUMBER,  # a number is made a tensor
    "int": _INTEGER,
    "SymInt": _INTEGER,
    "float": _REAL,
    "bool": _TRUTH,
    "SymBool": _TRUTH,
    "Scalar": _NUMBER | _TENSOR,
    "str": frozenset({"as_string"}),
    "ScalarType": frozenset({"as_scalar_type"}),
    "Layout": frozenset({"as_layout"}),
    "MemoryFormat": frozenset({"as_memory_format"}),
    "Device": frozenset({"as_device"}),
    "Tensor[]": frozenset({"as_tensors"}),
    "Tensor?[]": frozenset({"as_tensors", "as_optional_tensors"}),
    "int[]": _INTEGERS,
    "SymInt[]": _INTEGERS,
    "float[]": _INTEGERS | {"as_floats", "as_sym_floats"},
    "bool[]": frozenset({"as_bools", "as_sym_bools"}),
    "Scalar[]": _INTEGERS | {"as_floats", "as_sym_floats", "as_bools", "as_tensors"},
}
"""How a file may hold an argument of a type."""


class Parameter(Struct, frozen=True):
    """One argument of a schema."""

    name: str
    kinds: frozenset[str]
    required: bool
    positional: bool


class Schema(Struct, frozen=True):
    """What an operator takes and gives."""

    parameters: Mapping[str, Parameter]
    order: tuple[str, ...]
    """Names of what is passed by position."""
    returns: tuple[str, ...]


def check_call(op: OpName, node: Mapping[str, Any], release: tuple[int, ...]) -> None:
    """Require that a call fits the schema of its operator, where that is known.

    Args:
        op: the operator.
        node: the call, of export's schema.
        release: torch that wrote it, as the file has it.

    Raises:
        ValueError: it does not.
    """
    schema = schema_of(str(op))
    if schema is None:
        return
    inputs: Sequence[Mapping[str, Any]] = node["inputs"]
    given = {item["name"] for item in inputs}
    for position, item in enumerate(inputs):
        _check_input(op, schema, position, item, release)
    missing = [p.name for p in schema.parameters.values() if p.required and p.name not in given]
    if missing and release <= RELEASE:
        raise ValueError(Sentence("{text} gets no {text_b}", text=op, text_b=repr(missing[0])))
    _check_outputs(op, schema, node["outputs"])


@cache
def schema_of(op: str) -> Schema | None:
    """Give the schema of an overload; None for one that the table does not have."""
    line = _lines().get(op)
    if line is None:
        return None
    arguments, _, returns = line.rpartition(") -> ")
    parameters = {parameter.name: parameter for parameter in _parameters(arguments)}
    order = tuple(name for name, one in parameters.items() if one.positional)
    return Schema(parameters, order, tuple(part for part in returns.split(", ") if part))


@cache
def _lines() -> Mapping[str, str]:
    lines = PATH.read_text(encoding="utf-8").splitlines()
    return {name: rest for name, _, rest in (line.partition("(") for line in lines)}


def _parameters(text: str) -> Iterator[Parameter]:
    positional = True
    for part in text.split(", ") if text else ():
        if part == "*":
            positional = False
            continue
        kind, _, name = part.partition(" ")
        yield Parameter(name.removesuffix("="), _kinds(kind), not name.endswith("="), positional)


@cache
def _kinds(written: str) -> frozenset[str]:
    kind = written.removesuffix("?")
    optional = _NONE | ({"as_optional_tensor"} if kind == "Tensor" else frozenset())
    base, bracket, size = kind.partition("[")
    if bracket and size != "]":
        kinds = _KINDS.get(f"{base}[]", frozenset()) | _KINDS.get(base, frozenset())
    else:
        kinds = _KINDS.get(kind, frozenset())
    return kinds | optional if written.endswith("?") else kinds


def _check_input(
    op: OpName, schema: Schema, position: int, item: Mapping[str, Any], release: tuple[int, ...]
) -> None:
    name = item["name"]
    parameter = schema.parameters.get(name)
    if parameter is None:
        if release > RELEASE:
            return
        raise ValueError(
            Sentence("{text} has no argument {text_b}", text=op, text_b=repr(name[:80]))
        )
    if item.get("kind") == _POSITIONAL and schema.order[position : position + 1] != (name,):
        raise ValueError(
            Sentence(
                "{text} gets {text_b} in the place of another argument", text=op, text_b=repr(name)
            )
        )
    kind, payload = variant(item["arg"])
    if kind not in parameter.kinds and payload != []:
        raise ValueError(
            Sentence(
                "{text} gets a {text_b} as {text_c}",
                text=op,
                text_b=kind.removeprefix("as_"),
                text_c=repr(name),
            )
        )


def _check_outputs(op: OpName, schema: Schema, outputs: Sequence[Mapping[str, Any]]) -> None:
    kinds = [variant(output)[0] for output in outputs]
    if not schema.returns and all(kind == "as_none" for kind in kinds):
        return
    fits = len(kinds) == len(schema.returns) and all(map(_gives, schema.returns, kinds))
    if not fits:
        given = ", ".join(kind.removeprefix("as_") for kind in kinds)
        raise ValueError(
            Sentence(
                "{text} gives {text_b}, and not {text_c}",
                text=op,
                text_b=", ".join(schema.returns),
                text_c=given or "nothing",
            )
        )


def _gives(returned: str, kind: str) -> bool:
    match returned:
        case "Tensor" | "Tensor?":
            return kind in ("as_tensor", "as_optional_tensor", "as_none")
        case "Tensor[]":
            return kind == "as_tensors"
        case _:
            return kind not in ("as_tensor", "as_tensors")
