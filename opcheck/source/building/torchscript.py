"""A TorchScript module, loaded, every graph of it checked before anything is called."""

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import FunctionSchema
from torch.jit._recursive import wrap_cpp_module

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.archive import Archive, open_archive
from opcheck.source.building.example import Inputs, Signature, example
from opcheck.source.building.operators_allowed import RUN, schema_refusal
from opcheck.source.script_code import classes_of, require_one_model, words_of
from opcheck.source.text_arguments import text_refusal
from opcheck.source.text_arguments import words_of as texts_of

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
        stranger = Sentence("{text} is no node of a saved model", text=schema.name)
        return "" if base in NODES else stranger
    if namespace not in RUN:
        return Sentence("{text} is of a library that is not known here", text=schema.name)
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
    if not strangers:
        return ""
    return Sentence("it makes a {text}", text=f"torch.classes.{strangers[0]}")


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


_HINT = Sentence(
    "a model file may only compute; --trust runs what it says, if you know who wrote it"
)
_PLACE = re.compile(r'File "([^"]*)", line (\d+)|^(\S[^\n]*?)\((\d+)\): ', re.MULTILINE)
_PLAIN = frozenset(("TensorType", "IntType", "FloatType", "BoolType", "StringType", "NoneType"))


def check_code(path: Path, archive: Archive) -> None:
    """Check the words of the code, some of which runs while the archive is loaded.

    Raises:
        SourceError: it could call an operator, or make an object, that reaches beyond values.
    """
    require_one_model(path, archive)
    word = refused_word(words_of(path, archive))
    if word:
        raise SourceError(
            Sentence(
                "{text_file}: its code names {text}, which does more than compute",
                text_file=path,
                text=word,
            ),
            _HINT,
        )
    strangers = sorted(classes_of(archive) - PACKED)
    if strangers:
        raise SourceError(
            Sentence(
                "{text_file}: it holds an object of torch.classes.{text}",
                text_file=path,
                text=strangers[0],
            ),
            _HINT,
        )


def check_graphs(path: Path, compiled: Any) -> None:
    """Check all functions and methods of a compilation unit, whatever calls them.

    Raises:
        SourceError: a node reaches beyond values.
    """
    for function in compiled.get_functions():
        for node in _nodes(function.graph):
            why = _node_refusal(node)
            if why:
                where = f"{function.qualified_name}{_place(node)}"
                raise SourceError(
                    Sentence(
                        "{text_file}: {text_place} has {text}: {said}",
                        text_file=path,
                        text_place=where,
                        text=node.kind(),
                        said=why,
                    ),
                    _HINT,
                )


def _nodes(graph: Any) -> Iterator[Any]:
    """Every node of a graph, of its blocks and of the graphs that its nodes hold."""
    blocks = [graph]
    while blocks:
        for node in blocks.pop().nodes():
            yield node
            blocks += node.blocks()
            for name in node.attributeNames():
                match node.kindOf(name):
                    case "g":
                        blocks.append(node.g(name))
                    case "gs":
                        blocks += node.gs(name)


def _node_refusal(node: Any) -> str:
    """Say why a file may not have this node; empty where it may."""
    for output in node.outputs():
        kind = output.type()
        why = "" if kind.kind() in _PLAIN else type_refusal(kind)
        if why:
            return why
    namespace, _, base = str(node.kind()).partition("::")
    if namespace == "prim":
        return "" if base in NODES else Sentence("it is no node of a saved model")
    schema, why = _operator(node.kind(), node.schema())
    return why or _texts_refusal(schema, node)


def _texts_refusal(schema: FunctionSchema | None, node: Any) -> str:
    """Say why a text that stands there must not be passed; the kernel reads the others as modes."""
    if schema is None or not texts_of(schema.name):
        return ""
    for argument, value in zip(schema.arguments, node.inputs(), strict=False):
        text = value.toIValue() if value.node().kind() == "prim::Constant" else None
        if isinstance(text, str) and (why := text_refusal(schema.name, argument.name, text)):
            return why
    return ""


@cache
def _operator(kind: str, text: str) -> tuple[FunctionSchema | None, str]:
    """The schema of an operator, and why a file may not call it."""
    for schema in torch._C._jit_get_schemas_for_operator(kind):
        if str(schema) == text:
            return schema, refusal(schema)
    return None, "PyTorch has no such operator"


def _place(node: Any) -> str:
    """Where a node stands, as far as the file says."""
    found = _PLACE.search(node.sourceRange())
    if found is None:
        return ""
    file, line = (found[1], found[2]) if found[1] else (found[3], found[4])
    return f" ({file}:{line})"


def load_script(path: Path, *, trust: bool) -> Any:
    """Load what ``torch.jit.save`` wrote; unless trusted, nothing in it does more than compute.

    Raises:
        SourceError: its code or a graph of it would do more.
    """
    with open_archive(path) as archive:
        traced = any(member.endswith("/traced_inputs.pkl") for member in archive.members)
        if not trust:
            check_code(path, archive)
    # private, and what torch.jit.load does; checked with torch 2.13
    compiled = torch._C.CompilationUnit()
    module = torch._C.import_ir_module(  # type: ignore[call-arg]  # the stub lacks the last one
        compiled, str(path), torch.device("cpu"), {}, traced
    )
    if not trust:
        check_graphs(path, compiled)
    return wrap_cpp_module(module)


def script_signature(module: Any) -> Signature:
    """Give the parameters of a TorchScript module's forward."""
    arguments = module.forward.schema.arguments[1:]
    names = tuple(argument.name for argument in arguments)
    required = tuple(argument.name for argument in arguments if not argument.has_default_value())
    return Signature(names, required)


def traced_inputs(module: Any) -> Inputs | None:
    """Make inputs of the shapes that the module was traced with; None if any is not known."""
    args = []
    for value in list(module.forward.graph.inputs())[1:]:
        kind = value.type()
        known = isinstance(kind, torch._C.TensorType) and kind.sizes() and kind.dtype()
        if not known:
            return None
        args.append(example(value.debugName(), tuple(kind.sizes()), kind.dtype()))
    return (tuple(args), {}) if args else None
