"""A ``.pt2`` file as torch's own ``ExportedProgram``, without running anything that it names.

torch's reader unpickles, evaluates expressions and compiles names of the file into Python. So the
tensors come from the reader of this package, and the rest is looked through before torch gets it.
"""

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from opcheck.errors import SourceError
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2_model import ExportedModel
from opcheck.source.building.pt2_weights import restore, stored_inputs
from opcheck.source.pt2_file import ProgramFile, damaged, read_program
from opcheck.source.pt2_nodes import all_nodes
from opcheck.source.pt2_run import read_model
from opcheck.source.pt2_values import variant

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_NAME = re.compile(r"[^\"'\\()\[\]{}\r\n]*")
"""Text that stays within the quotes that torch's code generator puts it in."""
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*|null|[0-9]*")
"""What becomes a parameter, or its type, in that code."""
_ALIVE: list[ExportedModel] = []
"""They hold the operators that no library here has, and that were declared from the file."""
_FUNCTIONS = frozenset(
    {"Symbol", "Integer", "Float", "Rational", "Add", "Mul", "Pow", "PowByNatural", "Max", "Min",
     "FloorDiv", "CleanDiv", "CeilDiv", "IntTrueDiv", "FloatTrueDiv", "TruncToInt", "RoundToInt",
     "ToFloat", "Mod", "PythonMod", "ModularIndexing", "Identity", "Abs", "floor", "ceiling",
     "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "And", "Or", "Not",
     "Equality", "Unequality", "GreaterThan", "LessThan", "StrictGreaterThan", "StrictLessThan"}
)  # fmt: skip
"""What torch.export writes into the expressions of a file (2.6 to 2.15)."""
_EXPRESSION = (
    ast.Expression, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
    ast.Compare, ast.cmpop, ast.keyword,
)  # fmt: skip


def exported_program(path: Path, options: LoadOptions) -> "ExportedProgram":
    """Read the program of a file, with its weights and sample inputs.

    Raises:
        SourceError: the file is damaged, or torch cannot read it this way.
    """
    if options.trust:
        return torch.export.load(path)
    program = read_program(path)
    model, _, _ = read_model(program)
    _ALIVE.append(model)
    _require_harmless(program, model)
    restore(model, program)
    state, constants = _tensors(program, model)
    # private, checked on 2.13.0; tensors that are given as such are not unpickled
    from torch._export.serde.serialize import SerializedArtifact, SerializeError, deserialize

    # conditions on inputs, which torch would compile; they are put back untouched
    document = {**program.document, "guards_code": []}
    # it says bytes, and takes tensors as well
    parts: tuple[Any, Any, Any] = (state, constants, stored_inputs(program))
    artifact = SerializedArtifact(json.dumps(document).encode(), *parts)
    try:
        made = deserialize(artifact)
    except (
        SerializeError,
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        AssertionError,
    ) as error:
        # of a node that it cannot read torch prints all, graphs inside it too
        what = textwrap.shorten(str(error), 200, placeholder=" …") or type(error).__name__
        raise SourceError(
            f"{path}: torch {torch.__version__} cannot read the program again: {what}",
            "export the model again with this torch, or use --shim",
        ) from error
    return made


def guards_of(path: Path) -> list[str]:
    """The conditions on inputs that a file holds, as text."""
    found = read_program(path).document.get("guards_code") or []
    return [text for text in found if isinstance(text, str)]


def _tensors(
    program: ProgramFile, model: ExportedModel
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """State and constants, as torch's reader keeps them apart."""
    held = dict(model.named_parameters(remove_duplicate=False))
    buffers = dict(model.named_buffers(remove_duplicate=False))
    state: dict[str, torch.Tensor] = {}
    constants: dict[str, torch.Tensor] = {}
    for spec in program.document["graph_module"]["signature"]["input_specs"]:
        kind, payload = variant(spec)
        if kind == "parameter":
            state[payload["parameter_name"]] = held[payload["parameter_name"]]
        elif kind == "buffer":
            name = payload["buffer_name"]
            (state if payload.get("persistent", True) else constants)[name] = buffers[name]
        elif kind == "tensor_constant":
            name = payload["tensor_constant_name"]
            constants[name] = buffers[name]
    return state, constants


# --- what torch would run ------------------------------------------------------------------------


def _require_harmless(program: ProgramFile, model: ExportedModel) -> None:
    """Refuse names and expressions that are more than that."""
    for node in all_nodes(model.graph):
        if model.operators.find(node["target"]) is None:
            what = f"calls {node['target']!r}, which is no operator"
            raise damaged(program.path, program.member, what)
    for key, text in _strings(program.document):
        if key == "expr_str" and not _is_expression(text):
            raise damaged(program.path, program.member, f"a size is written as {text!r}")
        if (key == "name" or key.endswith("_name")) and not _NAME.fullmatch(text):
            raise damaged(program.path, program.member, f"{text!r} is no name")
        if key in ("in_spec", "forward_arg_names") and not _is_signature(text):
            raise damaged(program.path, program.member, f"inputs are described as {text!r}")


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a document with the key that it stands at."""
    match value:
        case str():
            yield key, value
        case Mapping():
            for name, item in value.items():
                yield from _strings(item, name)
        case list():
            for item in value:
                yield from _strings(item, key)


def _is_signature(text: str) -> bool:
    """Whether a description of inputs, JSON within JSON, has nothing but names in it."""
    if _IDENTIFIER.fullmatch(text):
        return True
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    inner = [item for _, item in _strings(found)]
    return text not in inner and all(map(_is_signature, inner))


def _is_expression(text: str) -> bool:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return all(_is_part(node, id(node) in called) for node in ast.walk(tree))


def _is_part(node: ast.AST, called: bool) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _FUNCTIONS
        case ast.Name(id=name):
            return (
                called or re.fullmatch(r"[a-z]+\d+|int_oo|oo|nan|zoo|True|False", name) is not None
            )
        case ast.Constant(value=value):
            return isinstance(value, int | float) or bool(_NAME.fullmatch(str(value)))
        case _:
            return isinstance(node, _EXPRESSION)
