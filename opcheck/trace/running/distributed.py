"""A model that several processes train, by DDP or ``fully_shard``, and its collectives.

Collectives as the traced device answers them: nothing leaves the process. ``c10d`` operators write
what they are given and hand back the work that they began. Private torch API used here, checked on
2.13.0: ``torch._C._distributed_c10d._create_work_from_future``.

A model made one of two processes that train it, as DDP or ``fully_shard`` would. PyTorch's own
wrappers run, its C++ reducer too. What they send ends at the traced device: the process group is
torch's ``fake`` one, which has no peers. Private torch API used here, checked on 2.13.0:
``torch.testing._internal.distributed.fake_pg``, ``alloc_storage`` and ``free_storage`` of
``torch.distributed.fsdp._fully_shard._fsdp_param`` (the traced device's tensors own no memory to
give back), ``FSDPParam.reset_sharded_param`` there (which asks only plain tensors whether they are
as it left them) and ``ShardingPropagator._propagate_tensor_meta_non_cached`` (which runs operators
on tensors of no device to learn their shapes).
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.trace.device.state import now
from opcheck.trace.device.tensors import DeviceTensor

FULLY_SHARDED = "fsdp"
"""Namespace of operators that ``fully_shard`` registers, in Python, for every device."""


def hands_on(types: Sequence[type]) -> bool:
    """Whether a call is of DTensors, which make calls of the parts that they hold."""
    module: Any = sys.modules.get("torch.distributed.tensor")
    return module is not None and any(issubclass(kind, module.DTensor) for kind in types)


def taken_apart(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run what an operator of ``fully_shard`` runs on a device."""
    return func._op_dk(torch._C.DispatchKey.PrivateUse1, *args, **kwargs)


NAMESPACE = "c10d"
_GATHERS = frozenset({"c10d::allgather_", "c10d::_allgather_base_"})
"""Operators whose outputs are copies of what went in, where all processes have the same."""
_KEEPS = frozenset({"c10d::broadcast_", "c10d::barrier", "c10d::monitored_barrier_", "c10d::send"})
"""Operators after which tensors are as before, where all processes have the same."""


def collected(func: Any, args: tuple[Any, ...]) -> Any:
    """What a ``c10d`` operator returns at once, among processes that all hold the same values."""
    _write(func._schema.name, args)
    work = done(list(args[0]) if isinstance(args[0], (list, tuple)) else [args[0]])
    return work if len(func._schema.returns) == 1 else (args[0], work)


def _write(name: str, args: tuple[Any, ...]) -> None:
    if name in _KEEPS:
        return
    for written in tree_leaves(args[0]):
        if isinstance(written, DeviceTensor):
            written.lose()
    if name not in _GATHERS:
        return
    given = args[1] if name == "c10d::allgather_" else [args[1]]
    for outputs, tensor in zip(args[0] if name == "c10d::allgather_" else [], given, strict=False):
        for output in outputs:
            if isinstance(output, DeviceTensor) and isinstance(tensor, DeviceTensor):
                output.value = None if tensor.value is None else tensor.value.clone()


def done(tensors: list[Any]) -> Any:
    """Give a piece of work that is done, with its result, as a C++ caller waits for."""
    from torch._C import _distributed_c10d

    future: Any = torch.futures.Future()
    future.set_result(tensors)
    make: Any = getattr(_distributed_c10d, "_create_work_from_future")  # noqa: B009  # untyped
    return make(future).boxed()


PROCESSES = 2
"""How many train together, as far as the traced one can tell."""


@contextmanager
def among_processes() -> Iterator[None]:
    """Have a process group inside the block: the user's own, or one without peers."""
    import torch.distributed as dist

    if not dist.is_available():
        raise TraceError(
            Sentence(
                "torch {version} is built without torch.distributed", version=torch.__version__
            ),
            Sentence("leave wrap out, or install a torch that has it"),
        )
    if dist.is_initialized():
        yield
        return
    from torch.testing._internal.distributed.fake_pg import FakeStore

    store: Any = FakeStore()
    dist.init_process_group("fake", store=store, rank=0, world_size=PROCESSES)
    try:
        yield
    finally:
        dist.destroy_process_group()


@contextmanager
def wrapped(module: nn.Module, how: str) -> Iterator[nn.Module]:
    """Give the module as ``how`` wraps it: ``ddp``, ``fsdp2``, or "" for as it is.

    One that a user wrapped in DDP is wrapped anew, for the traced device.
    """
    kind = nn.parallel.DistributedDataParallel
    if isinstance(module, kind):
        module, how = module.module, how or "ddp"
    if not how:
        yield module
        return
    with ExitStack() as stack:
        stack.enter_context(among_processes())
        if how == "ddp":
            yield kind(module)
        else:
            stack.enter_context(_owning_no_memory())
            yield _fully_sharded(module)


def _fully_sharded(module: nn.Module) -> nn.Module:
    """Shard each layer of a list of layers, then all that is left, as PyTorch's guide does."""
    from torch.distributed.fsdp import fully_shard

    for part in [part for part in module.modules() if isinstance(part, nn.ModuleList)]:
        for layer in part:
            if any(True for _ in layer.parameters()) and not isinstance(layer, nn.ModuleList):
                fully_shard(layer)
    fully_shard(module)
    return module


@contextmanager
def _owning_no_memory() -> Iterator[None]:
    from torch.distributed.fsdp._fully_shard import _fsdp_param
    from torch.distributed.tensor._sharding_prop import ShardingPropagator

    name = "_propagate_tensor_meta_non_cached"
    shapes: Any = getattr(ShardingPropagator, name)

    def unseen(*args: Any, **kwargs: Any) -> Any:
        engine = now()
        aside = nullcontext() if engine is None else engine.device_kernels.views_left_to_cpp()
        with _disable_current_modes(), aside:
            return shapes(*args, **kwargs)

    resets: Any = _fsdp_param.FSDPParam.reset_sharded_param

    def reset(parameter: Any) -> None:
        if not _is_as_left(parameter):
            resets(parameter)

    with (
        patch.object(_fsdp_param, "alloc_storage", lambda tensor: None),
        patch.object(_fsdp_param, "free_storage", lambda tensor: None),
        patch.object(_fsdp_param.FSDPParam, "reset_sharded_param", reset),
        patch.object(ShardingPropagator, name, unseen),
        patch.object(DeviceTensor, "shown", None),  # fully_shard asks C++ which device it is on
    ):
        yield


def _is_as_left(parameter: Any) -> bool:
    """Whether a module still has the sharded parameter that was padded before."""
    there = parameter._module_info
    return getattr(there.module, there.param_name) is parameter.sharded_param
