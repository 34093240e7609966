"""Walk every graph of a TorchScript module that was loaded, before anything of it is called."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import FunctionSchema

from opcheck.errors import SourceError
from opcheck.source.archive import Archive
from opcheck.source.building.script_operators import (
    NODES,
    PACKED,
    refusal,
    refused_word,
    type_refusal,
)
from opcheck.source.script_code import classes_of, require_one_model, words_of
from opcheck.source.words import text_refusal
from opcheck.source.words import words_of as texts_of

_HINT = "a model file may only compute; --trust runs what it says, if you know who wrote it"
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
        raise SourceError(f"{path}: its code names {word}, which does more than compute", _HINT)
    strangers = sorted(classes_of(archive) - PACKED)
    if strangers:
        raise SourceError(f"{path}: it holds an object of torch.classes.{strangers[0]}", _HINT)


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
                raise SourceError(f"{path}: {where} has {node.kind()}: {why}", _HINT)


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
        return "" if base in NODES else "it is no node of a saved model"
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
