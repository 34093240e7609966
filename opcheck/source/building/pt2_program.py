"""A ``.pt2`` file as torch's own ``ExportedProgram``, without running anything that it names.

torch's reader unpickles, evaluates expressions and compiles names of the file into Python. So the
tensors come from the reader of this package, and the rest is looked through before torch gets it.
"""

import json
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from opcheck.errors import SourceError, out_of_memory
from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2_model import ExportedModel
from opcheck.source.building.pt2_plain import plain_document
from opcheck.source.building.pt2_weights import restore, stored_inputs
from opcheck.source.pt2_check import DAMAGED, what_is
from opcheck.source.pt2_expression_reader import read
from opcheck.source.pt2_file import ProgramFile, damaged, read_program
from opcheck.source.pt2_run import read_model
from opcheck.source.pt2_values import variant

if TYPE_CHECKING:
    from torch.export import ExportedProgram

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
            f"{path}: torch {torch.__version__} cannot read the program again: {what}",
            "export the model again with this torch, or use --shim",
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
        what = f"a condition on its inputs cannot be read: {what_is(error)}"
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
