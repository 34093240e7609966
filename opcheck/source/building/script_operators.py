"""Which operators and other nodes TorchScript of a file may have: those that touch only values.

Private torch API used here, checked on 2.13.0: ``torch._C._jit_get_all_schemas``,
``torch._C._jit_get_schemas_for_operator`` and ``Argument.real_type``.
"""

import re
from collections.abc import Collection
from typing import Any

import torch
from torch import FunctionSchema

from opcheck.source.building.operators_allowed import RUN, schema_refusal

PACKED = frozenset(
    ("quantized.LinearPackedParamsBase", "quantized.Conv2dPackedParamsBase",
     "quantized.Conv3dPackedParamsBase", "quantized.EmbeddingPackedParamsBase",
     "rnn.CellParamsBase")
)  # fmt: skip
"""C++ classes that hold quantised weights, and do nothing but that."""

NODES = frozenset(
    ("AutogradZero", "CallFunction", "CallMethod", "Closure", "Constant", "CreateObject",
     "DictConstruct", "Enter", "EnumName", "EnumValue", "Exit", "GetAttr", "If", "ListConstruct",
     "ListUnpack", "Loop", "ModuleContainerIndex", "NumToTensor", "Print", "RaiseException",
     "SetAttr", "StringIndex", "TupleConstruct", "TupleIndex", "TupleSlice", "TupleUnpack",
     "Uninitialized", "abs", "awaitable", "awaitable_nowait", "awaitable_wait", "data", "device",
     "dtype", "fork", "grad", "id", "index", "is_cpu", "is_cuda", "is_ipu", "is_maia", "is_meta",
     "is_mkldnn", "is_mps", "is_mtia", "is_nested", "is_quantized", "is_sparse", "is_sparse_csr",
     "is_vulkan", "is_xla", "is_xpu", "isinstance", "itemsize", "layout", "max", "min", "name",
     "nbytes", "rangelist", "requires_grad", "shape", "tolist", "type", "unchecked_cast",
     "unchecked_unwrap_optional")
)  # fmt: skip
"""Nodes of the namespace ``prim``: control flow, containers, attributes, calls within the file."""

_OF_VALUES = frozenset(
    ("Delete", "Float", "Generator", "Int", "__contains__", "__getitem__", "__interpolate",
     "__is__", "__isnot__", "__upsample", "__upsample_bilinear", "__upsample_nearest",
     "_get_cpu_capability", "_print", "_set_item", "_unwrap_optional", "add", "add_", "any",
     "append", "as_tensor", "bin", "capitalize", "center", "chr", "clear", "copy", "count",
     "dequantize", "device", "dict", "einsum", "endswith", "eq", "expandtabs", "extend", "find",
     "format", "ge", "get", "get_autocast_dtype", "gt", "has_torch_function", "hash", "hex",
     "index", "initial_seed", "insert", "isalnum", "isalpha", "isdecimal", "isdigit",
     "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper",
     "items", "join", "keys", "le", "len", "list", "ljust", "lower", "lstrip", "lt",
     "manual_seed", "mul", "mul_", "ne", "oct", "ord", "partition", "percentFormat", "pop",
     "popitem", "qscheme", "remove", "replace", "reverse", "rfind", "rindex", "rjust",
     "rpartition", "rsplit", "rstrip", "seed", "select", "setdefault", "slice", "sort", "sorted",
     "split", "splitlines", "startswith", "str", "strip", "swapcase", "tensor", "title", "update",
     "upper", "values", "wait", "warn", "zfill")
)  # fmt: skip
"""Operators of ``aten`` that TorchScript alone has, on texts, lists, dicts and the like, none of
which leaves the process; what they take and give is still looked at."""
_KINDS = frozenset(
    ("StringType", "VarType", "AnyType", "AnyListType", "AnyTupleType", "AnyEnumType",
     "GeneratorType", "TensorType", "IntType", "SymIntType", "FloatType", "SymFloatType",
     "BoolType", "SymBoolType", "NumberType", "ComplexType", "ScalarTypeType", "LayoutType",
     "MemoryFormatType", "DeviceObjType", "NoneType", "QSchemeType", "AnyClassType", "EnumType")
)  # fmt: skip
_CLASS = re.compile(r"torch\.classes\.(\w+\.\w+)")
_UNMAKEABLE = frozenset(("RRefType", "StorageType", "StreamObjType", "PyObjectType"))
"""Kinds of values that no file has, and that no operator allowed here gives."""
_ALWAYS = frozenset(("rpc_async", "rpc_sync", "rpc_remote"))
"""Words of the language itself."""
_MAY_MEAN_ANYTHING = frozenset(("profile",))
"""Names of refused nodes that are usual names of variables; such a node is met later."""


def refusal(schema: FunctionSchema) -> str:
    """Say why TorchScript of a file may not call an operator; empty where it may."""
    namespace, _, base = schema.name.partition("::")
    if namespace == "prim":
        return "" if base in NODES else f"{schema.name} is no node of a saved model"
    if namespace not in RUN:
        return f"{schema.name} is of a library that is not known here"
    why = schema_refusal(schema)
    if not why:
        return ""
    values = namespace == "aten" and base in _OF_VALUES
    kinds = [one.real_type for one in (*schema.arguments, *schema.returns)]
    known = all(_is_value(kind, texts=values) for kind in kinds)
    return "" if known and (values or "..." not in str(schema)) else why


def type_refusal(kind: Any) -> str:
    """Say why a value may not be of this type; empty where it may."""
    strangers = [name for name in _CLASS.findall(str(kind)) if name not in PACKED]
    return f"it makes a torch.classes.{strangers[0]}" if strangers else ""


def refused_word(words: Collection[str]) -> str:
    """The first of these words, in the order of the alphabet, that may call what is refused.

    Operators of ``aten`` are called by their name alone, all others also by that of their library.
    """
    found = [word for word in _ALWAYS if word in words]
    for schema in torch._C._jit_get_all_schemas():
        library, _, base = schema.name.partition("::")
        if base not in words or base in _MAY_MEAN_ANYTHING:
            continue
        if (library == "aten" or library in words) and refusal(schema) and _callable(schema):
            found.append(base if library == "aten" else f"{library}.{base}")
    return min(found, default="")


def _callable(schema: FunctionSchema) -> bool:
    """Whether a file can have all the values that an operator takes."""
    return not any(_needs(one.real_type) for one in schema.arguments)


def _is_value(kind: Any, *, texts: bool) -> bool:
    """Whether a type is one of values alone; of ``texts`` and containers, or of packed weights."""
    name = kind.kind()
    if name in ("OptionalType", "ListType", "FutureType", "AwaitType"):
        return _is_value(kind.getElementType(), texts=texts)
    if name == "ClassType":
        return _CLASS.search(str(kind)) is not None and not type_refusal(kind)
    if name == "TupleType":
        return all(_is_value(part, texts=texts) for part in kind.elements())
    if name == "DictType":
        parts = (kind.getKeyType(), kind.getValueType())
        return all(_is_value(part, texts=texts) for part in parts)
    return name in _KINDS and (texts or name != "StringType")


def _needs(kind: Any) -> bool:
    name = kind.kind()
    if name in ("OptionalType", "ListType"):
        return _needs(kind.getElementType())
    return name in _UNMAKEABLE
