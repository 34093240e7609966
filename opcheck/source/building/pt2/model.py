"""An exported program as a module, and its weights and sample inputs from the file."""

import io
import json
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves  # private; checked with torch 2.13

from opcheck.errors import out_of_memory
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import TensorMeta
from opcheck.source.archive import Archive, open_archive
from opcheck.source.building.fill import notes_on, plausible
from opcheck.source.building.pt2.interpret import Interpreter, first_device, input_names
from opcheck.source.building.pt2.operators import Operators
from opcheck.source.building.weightless import check_room, is_large
from opcheck.source.pt2.file import ProgramFile, damaged
from opcheck.source.pt2.stack_trace import Place, module_path
from opcheck.source.pt2.values import DTYPES, GraphValues, all_nodes, variant

_LIFTED: Mapping[str, str] = {
    "parameter": "parameter_name",
    "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
}
"""Graph inputs that come from the model -> where the schema (8.20) has their path."""
_DEEPEST = 100
"""Levels of modules; torch walks them by functions that call themselves."""


def blank(meta: TensorMeta) -> Tensor:
    """A tensor like ``meta``: on meta where it is large, else zeros, which index anything."""
    dtype: torch.dtype = getattr(torch, meta.dtype)
    device = "meta" if is_large(meta.numel, dtype) else "cpu"
    return torch.empty_strided(meta.shape, meta.stride, dtype=dtype, device=device).zero_()


class ExportedModel(nn.Module):
    """An exported program; parameters and buffers stand where the original had them."""

    def __init__(
        self, program: Mapping[str, Any], values: GraphValues, places: Mapping[str, Place]
    ) -> None:
        """``program`` is the schema's ``GraphModule``, ``values`` those of its graph."""
        super().__init__()
        self.graph: Mapping[str, Any] = program["graph"]
        self.operators = Operators(all_nodes(self.graph), values)
        self.user_inputs: dict[str, Mapping[str, Any]] = {}
        """Name in the graph -> the schema's argument, for what the user passes, in order."""
        self.stored: dict[str, TensorMeta] = {}
        """Path -> what is stored there: parameters, buffers and constants."""
        self._device_type = values.device_type
        self._places = places
        self._lifted: dict[str, tuple[nn.Module, str]] = {}
        inputs = zip(input_names(self.graph), self.graph["inputs"], strict=True)
        specs = program["signature"]["input_specs"]
        for (name, argument), spec in zip(inputs, specs, strict=True):
            kind, payload = variant(spec)
            if kind in _LIFTED:
                self._lift(name, payload[_LIFTED[kind]], values.tensor(name), kind)
            elif kind in ("user_input", "constant_input"):
                self.user_inputs[name] = argument
            else:
                raise ValueError(
                    Sentence(
                        "input {text} is a {text_b}, which cannot be made from the file",
                        text=name,
                        text_b=kind,
                    )
                )
        for node in all_nodes(self.graph):
            self._made(module_path(node["metadata"].get("nn_module_stack", "")))

    def forward(self, *args: Any) -> Any:
        """Run the program on its user inputs, flattened in the order of the export."""
        env = {name: getattr(owner, leaf) for name, (owner, leaf) in self._lifted.items()}
        env.update(zip(self.user_inputs, args, strict=True))
        device = first_device(env.values())
        devices = {} if device is None else {self._device_type: device}
        run = Interpreter(self.operators, self._scope, self._places, devices)
        return run.run(self.graph, env)

    def hold(self, path: str, tensor: Tensor) -> None:
        """Put ``tensor`` in the place of the parameter, buffer or constant at ``path``."""
        owner_path, _, leaf = path.rpartition(".")
        owner = self.get_submodule(owner_path)
        store = owner._parameters if leaf in owner._parameters else owner._buffers
        store[leaf] = tensor  # type: ignore[assignment]  # a parameter for a parameter

    def _lift(self, name: str, path: str, meta: TensorMeta, kind: str) -> None:
        """Put a tensor where the model had it."""
        owner_path, _, leaf = path.rpartition(".")
        owner, tensor = self._made(owner_path), blank(meta)
        if kind == "parameter":
            differentiable = tensor.is_floating_point() or tensor.is_complex()
            owner.register_parameter(leaf, nn.Parameter(tensor, requires_grad=differentiable))
        else:
            owner.register_buffer(leaf, tensor)
        self._lifted[name] = (owner, leaf)
        self.stored[path] = meta

    def _made(self, path: str) -> nn.Module:
        """The module of that path, made where it is not there yet."""
        if path.count(".") > _DEEPEST:
            raise ValueError(Sentence("a module is {text} levels deep", text=path.count(".")))
        module: nn.Module = self
        for part in path.split(".") if path else ():
            if part not in module._modules:
                module.add_module(part, _Scope())
            module = module.get_submodule(part)
        return module

    def _scope(self, path: str) -> nn.Module | None:
        return self.get_submodule(path) if path else None


class _Scope(nn.Module):
    """Stands for one module of the exported model while its operators run."""

    def forward(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call an operator of this module's."""
        return function(*args, **kwargs)


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
                what = Sentence(
                    "{path} is {text_meta} in the graph, which cannot be filled ({text})",
                    path=path,
                    text_meta=meta,
                    text=error,
                )
                raise damaged(program.path, program.member, what) from error
        elif (tensor.dtype, tuple(tensor.shape)) != (getattr(torch, meta.dtype), meta.shape):
            shape = list(tensor.shape)
            what = Sentence(
                "{path} is {text_meta} in the graph, and {text} is stored",
                path=path,
                text_meta=meta,
                text=f"{tensor.dtype}{shape}",
            )
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
                raise damaged(
                    self.program.path,
                    config,
                    Sentence("cannot be read ({text_why})", text_why=error),
                ) from error
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
