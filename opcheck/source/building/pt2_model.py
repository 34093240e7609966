"""An exported program as a module: its own module tree, its weights put in by whoever has them."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.model.trace import TensorMeta
from opcheck.source.building.pt2_interpret import Interpreter, first_device, input_names
from opcheck.source.building.pt2_operators import Operators
from opcheck.source.building.weightless import is_large
from opcheck.source.pt2_nodes import all_nodes
from opcheck.source.pt2_places import Place, module_path
from opcheck.source.pt2_values import GraphValues, variant

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
                raise ValueError(f"input {name} is a {kind}, which cannot be made from the file")
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
            raise ValueError(f"a module is {path.count('.')} levels deep")
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
