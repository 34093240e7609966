"""Which operators a file may have called: those whose schema can reach no file and no process.

That is read from the schema and not from a list of bad names: every argument and result is a
tensor, a number, a data type, a layout, a memory format, a device, or a text of which
:mod:`opcheck.source.text_arguments` knows what it may say. Private torch API used
here, checked on 2.13.0:
``torch._C._dispatch_find_schema_or_throw``, ``OpOverload._schema`` and ``Argument.real_type``; a
test walks all schemas and fails when they move.
"""

from typing import Any

import torch
from torch import FunctionSchema
from torch._ops import OpOverload

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import OpName
from opcheck.source.text_arguments import text_refusal, words_of

RUN = frozenset({"aten", "prims", "quantized", "quantized_decomposed", "torchvision"})
"""Namespaces whose kernels are PyTorch's own, or this package's for torchvision."""

_PLAIN = frozenset(
    {
        "TensorType", "IntType", "SymIntType", "FloatType", "SymFloatType", "BoolType",
        "SymBoolType", "NumberType", "ComplexType", "ScalarTypeType", "LayoutType",
        "MemoryFormatType", "DeviceObjType", "NoneType",
    }
)  # fmt: skip
"""Kinds of a schema's types that hold no more than a tensor, a number or a name of torch's own."""
_HOLDS_ONE = frozenset({"OptionalType", "ListType"})
_TEXT = "StringType"
_GENERATOR = "GeneratorType"


def refusal(overload: OpOverload) -> str:
    """Say why no file may have this operator called; empty where it may."""
    schema = overload._schema
    if overload.namespace not in RUN:
        return Sentence("{text} is of a library that is not known here", text=schema.name)
    return schema_refusal(schema)


def schema_refusal(schema: FunctionSchema) -> str:
    """Say why a schema reaches beyond tensors and numbers; empty where it does not.

    It serves operators of TorchScript as well, which the dispatcher does not know.
    """
    if "..." in str(schema):  # torch gives no other sign of it
        return Sentence("{text} takes or gives anything", text=schema.name)
    for argument in schema.arguments:
        kind = _beyond(argument.real_type)
        optional = argument.real_type.kind() == "OptionalType"
        if kind == _GENERATOR and (optional or argument.has_default_value()):
            continue  # none can be passed, so the default one is used
        if kind == _TEXT and argument.name in words_of(schema.name):
            continue
        if kind:
            return Sentence(
                "{text} takes {text_b} as {text_c}",
                text=schema.name,
                text_b=argument.real_type,
                text_c=repr(argument.name),
            )
    for result in schema.returns:
        if _beyond(result.real_type):
            return Sentence("{text} gives {text_b}", text=schema.name, text_b=result.real_type)
    return ""


def arguments_refusal(schema: FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Say why texts among the arguments of a call must not be passed; empty where they may be."""
    names = [argument.name for argument in schema.arguments]
    given = [*zip(names, args, strict=False), *kwargs.items()]
    for name, value in given:
        if isinstance(value, str) and _takes_text(schema, name):
            why = text_refusal(schema.name, name, value)
            if why:
                return why
    return ""


def registered(op: OpName) -> OpOverload | None:
    """Give the overload that the dispatcher has under exactly this name; None where it has none.

    Nothing is imported, and no attribute of ``torch.ops`` is read that is not an operator.
    """
    try:
        torch._C._dispatch_find_schema_or_throw(op.operator, op.overload)
    except RuntimeError:
        return None
    packet = getattr(getattr(torch.ops, op.namespace), op.base, None)
    found = getattr(packet, op.overload or "default", None)
    if not isinstance(found, OpOverload):
        return None
    named = (found._schema.name, found._schema.overload_name)
    return found if named == (op.operator, op.overload) else None


def _takes_text(schema: FunctionSchema, name: str) -> bool:
    kinds = (_beyond(one.real_type) for one in schema.arguments if one.name == name)
    return next(kinds, _TEXT) == _TEXT


def _beyond(kind: Any) -> str:
    """The first part of a type that is more than a tensor or a number; empty where none is."""
    name: str = kind.kind()
    if name in _HOLDS_ONE:
        return _beyond(kind.getElementType())
    return "" if name in _PLAIN else name
