"""A ``.pt2`` file as torch's ``ExportedProgram``, without running anything that it names."""

import json
import re
import textwrap
from collections.abc import Mapping
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from opcheck.errors import SourceError, out_of_memory
from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2.model import ExportedModel, restore, stored_inputs
from opcheck.source.kinds.exported_program import read_model
from opcheck.source.pt2.check import DAMAGED, what_is
from opcheck.source.pt2.expression_reader import read
from opcheck.source.pt2.expressions import written
from opcheck.source.pt2.file import ProgramFile, damaged, read_program
from opcheck.source.pt2.trees import DEEPEST, PROTOCOL
from opcheck.source.pt2.values import variant

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_SIMPLE = frozenset({"builtins.list", "builtins.tuple", "collections.deque"})
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KEY = re.compile(r"[\w ./:+-]{0,200}")


def plain_treespec(text: Any, *, inputs: bool) -> str:
    """Write a description of nested values anew.

    Args:
        text: what the file has.
        inputs: whether names in it become parameters of a function.

    Raises:
        ValueError: it is more than lists, tuples and dicts with plain keys.
    """
    try:
        return json.dumps([PROTOCOL, _found(text, _IDENTIFIER if inputs else _KEY)])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        what = "inputs" if inputs else "outputs"
        raise ValueError(
            Sentence(
                "its {text} are described as {text_b}: {text_c}",
                text=what,
                text_b=repr(str(text)[:60]),
                text_c=sentence_of(error),
            )
        ) from error


def _found(text: str, key: re.Pattern[str]) -> dict[str, Any]:
    protocol, found = json.loads(text)
    if protocol != PROTOCOL:
        raise ValueError(Sentence("by the protocol {text}", text=str(protocol)[:40]))
    return _spec(found, key, 0)


def _spec(found: dict[str, Any], key: re.Pattern[str], depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise ValueError(Sentence("more than {text} levels deep", text=DEEPEST))
    kind, children = found["type"], found["children_spec"]
    if kind is None:
        if found["context"] is not None or children:
            raise ValueError(Sentence("one value has parts"))
        return {"type": None, "context": None, "children_spec": []}
    context = json.loads(found["context"])
    if kind in _DICTS:
        named = isinstance(context, list) and len(context) == len(children)
        if not named or not all(_is_key(one, key) for one in context):
            raise ValueError(Sentence("a dict has other keys than names"))
    elif kind not in _SIMPLE or not (context is None or type(context) is int):
        raise ValueError(
            Sentence("a {text}, expected a list, a tuple or a dict", text=str(kind)[:60])
        )
    below = [_spec(child, key, depth + 1) for child in children]
    return {"type": kind, "context": json.dumps(context), "children_spec": below}


def _is_key(value: Any, key: re.Pattern[str]) -> bool:
    if type(value) is int:
        return key is _KEY
    return isinstance(value, str) and bool(key.fullmatch(value)) and not iskeyword(value)


_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PATH = re.compile(r"[\w :/<>@+.-]{0,2000}")
"""Text that stays within the quotes that torch's code generator puts it in."""
_KEPT = ("stack_trace", "nn_module_stack", "torch_fn")
"""What is kept of a node's metadata; torch looks up the functions that the rest names."""
_APART = ("graph_module", "guards_code")
"""What is not read as the rest is. The conditions on inputs, which torch would compile, are
left out and put back untouched; a torch that knows of none would not take them at all."""
_OF_NODES = frozenset({"target", "as_operator", "as_graph", "as_custom_obj"})
_VERIFIERS = frozenset({"ATEN", "TRAINING", ""})


def plain_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give what torch's reader needs of a program.

    Raises:
        ValueError: a part of it is more than it says.
    """
    module = document["graph_module"]
    found: dict[str, Any] = {
        **{key: _plain(value, key) for key, value in document.items() if key not in _APART},
        "graph_module": {
            "graph": _plain(module["graph"], ""),
            "signature": _described(module["signature"]),
            "module_call_graph": list(map(_call, module["module_call_graph"])),
            "metadata": {},
        },
    }
    verifiers = found.get("verifiers", [])
    if not set(verifiers) <= _VERIFIERS:
        raise ValueError(Sentence("it is of the dialects {text}", text=str(verifiers)[:60]))
    return found


def _call(entry: Mapping[str, Any]) -> dict[str, Any]:
    """How one module was called."""
    signature = entry.get("signature")
    made = {"fqn": _path(entry["fqn"])}
    if not signature:
        return {**made, "signature": None}
    names = signature.get("forward_arg_names")
    described = {
        "inputs": _described(signature["inputs"]),
        "outputs": _described(signature["outputs"]),
        "in_spec": plain_treespec(signature["in_spec"], inputs=True),
        "out_spec": plain_treespec(signature["out_spec"], inputs=False),
        "forward_arg_names": None if names is None else list(map(_named, names)),
    }
    return {**made, "signature": described}


def _described(value: Any) -> Any:
    """A part that describes values, and so calls nothing."""
    match value:
        case dict():
            if not _OF_NODES.isdisjoint(value):
                raise ValueError(Sentence("its signature has a call in it"))
            return {key: _described(_plain_text(item, key)) for key, item in value.items()}
        case list():
            return list(map(_described, value))
        case _:
            return value


def _plain(value: Any, key: str) -> Any:
    match value:
        case dict() if key == "metadata":
            return {name: value[name] for name in _KEPT if name in value}
        case dict():
            return {name: _plain(item, name) for name, item in value.items()}
        case list():
            return [_plain(item, key) for item in value]
        case _:
            return _plain_text(value, key)


def _plain_text(value: Any, key: str) -> Any:
    if not isinstance(value, str):
        return value
    if key == "expr_str":
        return written(read(value))
    if key in ("name", "as_name"):
        return _named(value) if value else value
    return _path(value) if key.endswith("_name") else value


def _named(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or iskeyword(value):
        raise ValueError(Sentence("{text} is no name", text=repr(str(value)[:80])))
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or not _PATH.fullmatch(value):
        raise ValueError(
            Sentence("{text} is no name of a part of a model", text=repr(str(value)[:80]))
        )
    return value


_ALIVE: list[ExportedModel] = []
"""They hold the operators that no library here has, and that were declared from the file."""
_SIZE_OF_INPUT = re.compile(
    r"\bL(?:\['\w+'\]|\[\d+\])+(?:\.(?:size|stride)\(\)\[\d+\]|\.(?:storage_offset|dim)\(\))?",
    re.ASCII,
)
_SIGNS = {"and": "&", "or": "|", "not": "~"}
_WORD = re.compile(r"\b(?:and|or|not)\b")
_UNREADABLE = (*DAMAGED, AssertionError, SyntaxError, RuntimeError)
"""What torch raises for a program that it cannot read; a RecursionError is a RuntimeError too."""


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
    try:
        document = json.dumps(plain_document(program.document)).encode()
    except DAMAGED as error:
        raise damaged(program.path, program.member, what_is(error)) from error
    restore(model, program)
    state, constants = _tensors(program, model)
    # private, checked on 2.13.0; tensors that are given as such are not unpickled
    from torch._export.serde.serialize import SerializedArtifact, deserialize
    from torch._export.verifier import SpecViolationError

    # it says bytes, and takes tensors as well
    parts: tuple[Any, Any, Any] = (state, constants, stored_inputs(program))
    artifact = SerializedArtifact(document, *parts)
    try:
        made = deserialize(artifact)
    except (*_UNREADABLE, SpecViolationError) as error:
        if out_of_memory(error):
            raise MemoryError from error
        # of a node that it cannot read torch prints all, graphs inside it too
        what = textwrap.shorten(str(error), 200, placeholder=" …") or type(error).__name__
        raise SourceError(
            Sentence(
                "{text_file}: torch {version} cannot read the program again: {text}",
                text_file=path,
                version=torch.__version__,
                text=what,
            ),
            Sentence("export the model again with this torch, or use --shim"),
        ) from error
    return made


def guards_of(path: Path) -> list[str]:
    """The conditions on inputs that a file holds, as text.

    Raises:
        SourceError: one of them is more than a comparison of sizes; who loads the program would run
            it.
    """
    program = read_program(path)
    found = program.document.get("guards_code") or []
    try:
        for text in found:
            read(_WORD.sub(lambda word: _SIGNS[word[0]], _SIZE_OF_INPUT.sub("s0", text)))
    except DAMAGED as error:
        what = Sentence("a condition on its inputs cannot be read: {text}", text=what_is(error))
        raise damaged(path, program.member, what) from error
    return list(found)


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


def saved_program(path: Path, *, trust: bool = False) -> "ExportedProgram":
    """Read a program with its weights.

    Args:
        path: a file that ``torch.export.save`` wrote.
        trust: have torch read it, which unpickles what is in it.

    Raises:
        SourceError: the file is not there, is damaged, or is none of a program.
    """
    return exported_program(path, LoadOptions(trust=trust, weights=True))
