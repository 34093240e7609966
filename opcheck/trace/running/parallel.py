"""Models whose tensors several processes hold in parts: meshes of devices and DTensors.

DTensors make calls of the parts that they hold, and collectives; both reach the traced device as
those of plain tensors do. Meshes say that they are of that device, whatever the user's code made
them of. Private torch API used here, checked on 2.13.0: ``DTensor._local_tensor``,
``DTensor._spec``, ``PipelineStage._user_meta`` and its two votes, ``DTensor.__new__`` with both,
``ShardingPropagator._propagate_tensor_meta_non_cached`` and
``DecompShardingStrategy._propagate_through_decomp`` (which run operators on tensors of no device),
``ProcessGroup._get_backend``, ``_start_coalescing`` and ``_end_coalescing`` (which look for a
backend of the device).
"""

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from opcheck.model.sharding import SHARDED
from opcheck.model.trace import Composite
from opcheck.trace.device.state import now
from opcheck.trace.torch_internals.dispatcher import composite_kind

_HOST = torch.device("cpu")


def _loaded(name: str) -> Any:
    return sys.modules.get(name)


_HANDING_ON = (
    ("torch.distributed.tensor", "DTensor"),
    ("torch.distributed._functional_collectives", "AsyncCollectiveTensor"),
)
"""Tensors that make calls of what they hold."""


def hands_on(types: Sequence[type]) -> bool:
    """Whether a call is of DTensors, which make calls of the parts that they hold, or the like."""
    for module, name in _HANDING_ON:
        kind = getattr(_loaded(module), name, None)
        if kind is not None and any(issubclass(given, kind) for given in types):
            return True
    return False


def holds_parts(*given: Any) -> bool:
    """Whether such tensors are among nested arguments."""
    return hands_on([type(leaf) for leaf in tree_leaves(given) if isinstance(leaf, Tensor)])


def goes_apart(func: Any) -> bool:
    """Whether autograd takes an operator apart before DTensors are asked."""
    return isinstance(func, OpOverload) and composite_kind(func.name()) is Composite.IMPLICIT


def in_parts(tensor: Tensor) -> bool:
    """Whether a tensor is a DTensor."""
    kind = getattr(_loaded("torch.distributed.tensor"), "DTensor", None)
    return kind is not None and isinstance(tensor, kind)


def in_parts_of(module: nn.Module) -> bool:
    """Whether a model's own code has other processes hold parts of its parameters."""
    tensors = (*module.parameters(), *module.buffers())
    return any(SHARDED in vars(part) for part in module.modules()) or any(map(in_parts, tensors))


def with_part(tensor: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A DTensor like another one, of which this process holds something else."""
    part = change(tensor._local_tensor)
    made = type(tensor)(part, tensor._spec, requires_grad=tensor.requires_grad)
    if isinstance(tensor, nn.Parameter):
        made._is_param = True  # what makes ``isinstance`` true of a subclass, without a dispatch
    return made


@contextmanager
def shared(module: nn.Module) -> Iterator[dict[int, Any]]:
    """Have ``copy.deepcopy`` leave groups and meshes as they are; gives the copies of DTensors."""
    memo: dict[int, Any] = {}
    for part in module.modules():
        for value in (*part._parameters.values(), *part._buffers.values()):
            if isinstance(value, Tensor) and in_parts(value):
                memo[id(value)] = with_part(value, copy.deepcopy)
    distributed = _loaded("torch.distributed")
    with ExitStack() as stack:
        if distributed is not None and distributed.is_available():
            for kind in (distributed.DeviceMesh, distributed.ProcessGroup):
                stack.enter_context(patch.object(kind, "__deepcopy__", _itself, create=True))
        yield memo


def _itself(value: Any, memo: dict[int, Any]) -> Any:
    return value


@contextmanager
def followed(device: torch.device) -> Iterator[None]:
    """Have meshes, DTensors and groups of processes know the traced device inside the block."""
    with ExitStack() as stack:
        distributed = _loaded("torch.distributed")
        if distributed is not None and distributed.is_available():
            mesh, group = distributed.DeviceMesh, distributed.ProcessGroup
            named = property(lambda _: device.type, partial(_keep, "device_type"))
            stack.enter_context(patch.object(mesh, "device_type", named, create=True))
            for name in ("_get_backend", "_start_coalescing", "_end_coalescing"):
                stack.enter_context(patch.object(group, name, _on_host(getattr(group, name))))
        if _loaded("torch.distributed.tensor") is not None:
            stack.enter_context(_shapes_unseen())
        stages = getattr(_loaded("torch.distributed.pipelining.stage"), "PipelineStage", None)
        if stages is not None:
            placed = property(lambda _: device, partial(_keep, "device"))
            stack.enter_context(patch.object(stages, "device", placed, create=True))
        for name in ("_warmup_forward_vote", "_warmup_backward_result"):
            if hasattr(stages, name):
                stack.enter_context(patch.object(stages, name, _agreed(getattr(stages, name))))
        yield


def _keep(name: str, owner: Any, value: Any) -> None:
    """Keep what an attribute is set to meanwhile."""
    vars(owner)[name] = value


def _agreed(original: Any) -> Any:
    """A vote of pipeline stages on whether all know their shapes, as if all said what this does."""

    def vote(stage: Any, *args: Any, **kwargs: Any) -> Tensor:
        original(stage, *args, **kwargs)
        meta = stage._user_meta
        static = meta.inputs is not None and meta.outputs is not None
        return torch.tensor([int(static)], dtype=torch.int32, device=stage.device)

    return vote


def _on_host(original: Any) -> Any:
    """A method of a group that asks the backend of the host, as the traced device has none."""

    def coalescing(group: Any, device: torch.device) -> Any:
        return original(group, _HOST)

    return coalescing


@contextmanager
def _shapes_unseen() -> Iterator[None]:
    """Have DTensors learn shapes and placements without anything of it being recorded."""
    ways = (
        ("_sharding_prop", "ShardingPropagator", "_propagate_tensor_meta_non_cached"),
        ("_decompositions", "DecompShardingStrategy", "_propagate_through_decomp"),
    )
    with ExitStack() as stack:
        for module, cls, name in ways:
            kind = getattr(_loaded(f"torch.distributed.tensor.{module}"), cls, None)
            if hasattr(kind, name):
                stack.enter_context(patch.object(kind, name, _unseen(getattr(kind, name))))
        yield


def _unseen(original: Any) -> Any:
    def learn(*args: Any, **kwargs: Any) -> Any:
        engine = now()
        aside = nullcontext() if engine is None else engine.device_kernels.views_left_to_cpp()
        with _disable_current_modes(), aside:
            return original(*args, **kwargs)

    return learn
