"""Weights and sample inputs of a ``.pt2`` file: raw bytes, or tensors that torch saved.

What torch saved is read by its reader for tensors alone, which runs nothing that a file names.
"""

import io
import json
import pickle
from collections.abc import Mapping
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves  # private; checked with torch 2.13

from opcheck.errors import out_of_memory
from opcheck.model.trace import TensorMeta
from opcheck.source.archive import Archive, open_archive
from opcheck.source.building.fill import notes_on, plausible
from opcheck.source.building.memory import check_room
from opcheck.source.building.pt2_model import ExportedModel
from opcheck.source.pt2_file import ProgramFile, damaged
from opcheck.source.pt2_values import DTYPES

_UNTIL_2_7 = {
    "weights": "serialized_state_dict.pt",
    "constants": "serialized_constants.pt",
    "sample_inputs": "serialized_example_inputs.pt",
}
_SLACK = 64 * 2**20
"""Bytes that a member may have beyond its tensors: names, and what the graph does not use."""


def restore(model: ExportedModel, program: ProgramFile) -> tuple[str, ...]:
    """Put the file's tensors into ``model``, made-up ones where it has none; gives the note."""
    nbytes = sum(meta.nbytes for meta in model.stored.values())
    check_room(str(program.path), nbytes)
    with open_archive(program.path) as archive:
        data = _Data(archive, program, limit=nbytes + _SLACK)
        found = {**data.tensors("weights"), **data.tensors("constants")}
    generator = torch.Generator().manual_seed(0)
    weights = {path for path, _ in model.named_parameters()}
    tied: dict[Any, nn.Parameter] = {}
    missing = []
    for path, meta in model.stored.items():
        tensor = found.get(path)
        if tensor is None:
            missing.append(path)
            try:
                tensor = plausible(path, _on_meta(meta), generator, weight=path in weights)
            except RuntimeError as error:  # elements that share memory, or there is none left
                if out_of_memory(error):
                    raise MemoryError from error
                what = f"{path} is {meta} in the graph, which cannot be filled ({error})"
                raise damaged(program.path, program.member, what) from error
        elif (tensor.dtype, tuple(tensor.shape)) != (getattr(torch, meta.dtype), meta.shape):
            shape = list(tensor.shape)
            what = f"{path} is {meta} in the graph, and {tensor.dtype}{shape} is stored"
            raise damaged(program.path, program.member, what)
        if path in weights:
            model.hold(path, tied.setdefault(_memory(tensor) or path, _parameter(tensor)))
        else:
            model.hold(path, tensor.detach())
    return notes_on(model, missing)


def sample_inputs(program: ProgramFile) -> tuple[Any, ...]:
    """What the program was exported with, flattened; empty where it is absent or more than tensors.

    In the order of the program's own inputs.
    """
    with open_archive(program.path) as archive:
        return tuple(tree_leaves(_Data(archive, program, _SLACK).saved("sample_inputs")))


def stored_inputs(program: ProgramFile) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """What the program was exported with, as it is called; None where that is not there."""
    with open_archive(program.path) as archive:
        match _Data(archive, program, _SLACK).saved("sample_inputs"):
            case (tuple() as args, dict() as kwargs):
                return args, kwargs
            case _:
                return None


class _Data(Struct, frozen=True):
    """What lies in an archive beside one program."""

    archive: Archive
    program: ProgramFile
    limit: int
    """Most bytes of one member."""

    def tensors(self, kind: str) -> Mapping[str, Tensor]:
        """Tensors by path; ``kind`` is ``weights`` or ``constants``."""
        config = f"{self._folder(kind)}/{self._name}_{kind}_config.json"
        if config in self.archive.members:
            try:
                return self._raw(kind, json.loads(self.archive.read(config))["config"])
            except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
                # RuntimeError: sizes beyond the stored bytes
                raise damaged(self.program.path, config, f"cannot be read ({error})") from error
        saved = self.saved(kind)
        items = saved.items() if isinstance(saved, Mapping) else ()
        return {path: value for path, value in items if isinstance(value, Tensor)}

    def saved(self, kind: str) -> Any:
        """What torch saved as ``kind``; () where that is absent or more than tensors."""
        members = (f"{self._folder(kind)}/{self._name}.pt", _UNTIL_2_7[kind])
        member = next((name for name in members if name in self.archive.members), None)
        if member is None:
            return ()
        content = io.BytesIO(self.archive.read(member, self.limit))
        try:
            return torch.load(content, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError):
            return ()

    @property
    def _name(self) -> str:
        return self.program.member.rpartition("/")[2].removesuffix(".json")

    def _folder(self, kind: str) -> str:
        root, _, _ = self.program.member.rpartition("models/")
        return f"{root}data/{kind}"

    def _raw(self, kind: str, config: Mapping[str, Any]) -> Mapping[str, Tensor]:
        """Views of the stored bytes, shared where the model's tensors shared them."""
        stored: dict[str, Tensor] = {}
        found = {}
        for path, payload in config.items():
            if payload["use_pickle"]:
                continue  # an object, or a tensor with a class of its own
            name = payload["path_name"]
            if name not in stored:
                content = self.archive.read(f"{self._folder(kind)}/{name}", self.limit)
                stored[name] = torch.frombuffer(bytearray(content or 16), dtype=torch.uint8)
            found[path] = _view(stored[name], payload["tensor_meta"], payload["is_param"])
        return found


def _view(stored: Tensor, meta: Mapping[str, Any], is_parameter: bool) -> Tensor:
    dtype: torch.dtype = getattr(torch, DTYPES[meta["dtype"]])
    sizes, strides = ([size["as_int"] for size in meta[key]] for key in ("sizes", "strides"))
    whole = stored[: stored.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
    view = whole.as_strided(sizes, strides, meta["storage_offset"]["as_int"])
    return nn.Parameter(view, meta["requires_grad"]) if is_parameter else view


def _memory(tensor: Tensor) -> tuple[Any, ...]:
    """What two tensors share that are the same view of the same memory; () for an empty one."""
    start = tensor.data_ptr()
    return (start, tensor.dtype, tensor.shape, tensor.stride()) if start else ()


def _parameter(tensor: Tensor) -> nn.Parameter:
    if isinstance(tensor, nn.Parameter):
        return tensor
    return nn.Parameter(tensor, tensor.is_floating_point() or tensor.is_complex())


def _on_meta(meta: TensorMeta) -> Tensor:
    dtype = getattr(torch, meta.dtype)
    return torch.empty_strided(meta.shape, meta.stride, dtype=dtype, device="meta")
