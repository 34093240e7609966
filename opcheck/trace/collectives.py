"""Collectives as the traced device answers them: nothing leaves the process.

``c10d`` operators write what they are given and hand back the work that they began. Private torch
API used here, checked on 2.13.0: ``torch._C._distributed_c10d._create_work_from_future``.
"""

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from opcheck.trace.device import DeviceTensor

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
