"""A model that several processes train, by DDP or ``fully_shard``, and its collectives.

Collectives as the traced device answers them: nothing leaves the process. ``c10d`` operators write
what they are given and hand back the work that they began. Private torch API used here, checked on
2.13.0: ``torch._C._distributed_c10d._create_work_from_future``.

A model made one of two processes that train it, as DDP or ``fully_shard`` would. PyTorch's own
wrappers run, its C++ reducer too. What they send ends at the traced device: the process group is
torch's ``fake`` one, which has no peers. Private torch API used here, checked on 2.13.0:
``torch.testing._internal.distributed.fake_pg``, ``alloc_storage`` and ``free_storage`` of
``torch.distributed.fsdp._fully_shard._fsdp_param`` (the traced device's tensors own no memory to
give back) and ``FSDPParam.reset_sharded_param`` there (which asks only plain tensors whether they
are as it left them).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.sharding import SHARDED, Sharding
from opcheck.trace.device.tensors import DeviceTensor
from opcheck.trace.torch_internals.dispatcher import at_key

FULLY_SHARDED = "fsdp"
"""Namespace of operators that ``fully_shard`` registers, in Python, for every device."""


def taken_apart(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run what an operator of ``fully_shard`` runs on a device."""
    return at_key(func, torch._C.DispatchKey.PrivateUse1, *args, **kwargs)


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
    for part in [part for part in module.modules() if isinstance(part, nn.ModuleList)]:
        for layer in part:
            if any(True for _ in layer.parameters()) and not isinstance(layer, nn.ModuleList):
                _fully_shard(layer)
    _fully_shard(module)
    return module


def _fully_shard(module: Any, **options: Any) -> None:
    from torch.distributed.fsdp import fully_shard

    getattr(fully_shard, "at_once", fully_shard)(module, **options)


@contextmanager
def as_sharded(module: nn.Module, quiet: AbstractContextManager[None]) -> Iterator[None]:
    """Shard what the model's own code asked ``fully_shard`` to, on the device; inside the block.

    Inside ``quiet`` nothing is recorded: it is part of how the model is made.
    """
    asked: dict[Sharding, list[nn.Module]] = {}
    for part in module.modules():
        sharding = vars(part).get(SHARDED)
        if sharding is not None:
            asked.setdefault(sharding, []).append(part)
    if not asked:
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(among_processes())
        stack.enter_context(_owning_no_memory())
        with quiet:
            for sharding, parts in sorted(asked.items(), key=lambda item: item[0].number):
                named = dict(parts[0].named_parameters())
                ignored = {named[name] for name in sharding.ignored if name in named}
                options = {"ignored_params": ignored} if ignored else {}
                given = parts if len(parts) > 1 else parts[0]
                _fully_shard(given, **options, **sharding.options)
        yield


@contextmanager
def _owning_no_memory() -> Iterator[None]:
    from torch.distributed.fsdp._fully_shard import _fsdp_param

    resets: Any = _fsdp_param.FSDPParam.reset_sharded_param

    def reset(parameter: Any) -> None:
        if not _is_as_left(parameter):
            resets(parameter)

    with (
        patch.object(_fsdp_param, "alloc_storage", lambda tensor: None),
        patch.object(_fsdp_param, "free_storage", lambda tensor: None),
        patch.object(_fsdp_param.FSDPParam, "reset_sharded_param", reset),
        patch.object(DeviceTensor, "shown", None),  # fully_shard asks C++ which device it is on
    ):
        yield


def _is_as_left(parameter: Any) -> bool:
    """Whether a module still has the sharded parameter that was padded before."""
    there = parameter._module_info
    return getattr(there.module, there.param_name) is parameter.sharded_param
