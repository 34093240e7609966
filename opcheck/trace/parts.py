"""Tensors that are parts of others across processes, and the operators that move such parts."""

import sys
from collections.abc import Sequence
from typing import Any

import torch

FULLY_SHARDED = "fsdp"
"""Namespace of operators that ``fully_shard`` registers, in Python, for every device."""


def hands_on(types: Sequence[type]) -> bool:
    """Whether a call is of DTensors, which make calls of the parts that they hold."""
    module: Any = sys.modules.get("torch.distributed.tensor")
    return module is not None and any(issubclass(kind, module.DTensor) for kind in types)


def taken_apart(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run what an operator of ``fully_shard`` runs on a device."""
    return func._op_dk(torch._C.DispatchKey.PrivateUse1, *args, **kwargs)
