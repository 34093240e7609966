"""Whether a model's weights fit into memory, asked before they are made."""

import contextlib
import os
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves  # private; checked with torch 2.13

from opcheck.errors import SourceError

SHARE = 0.5
"""Part of what this process may use that weights may take: a comparison holds them twice."""
_GIB = 2**30


def weight_bytes(value: Any) -> int:
    """Bytes of the parameters and buffers of every module in ``value``, shared ones once."""
    tensors: dict[int, Tensor] = {}
    for leaf in tree_leaves(value):
        if isinstance(leaf, nn.Module):
            tensors |= {id(tensor): tensor for tensor in (*leaf.parameters(), *leaf.buffers())}
    return sum(_nbytes(tensor) for tensor in tensors.values())


def check_room(what: str, nbytes: int) -> None:
    """Refuse weights of ``nbytes`` where there is no room for them."""
    room = int(_usable() * SHARE)
    if nbytes > room:
        raise SourceError(
            f"{what} needs {nbytes / _GIB:.1f} GiB for its weights, and may take "
            f"{room / _GIB:.1f} GiB here",
            "without --values only shapes are followed, and no memory is needed for weights; "
            "or give more with --memory, where the machine has it",
        )


def _nbytes(tensor: Tensor) -> int:
    try:
        return tensor.numel() * tensor.element_size()
    except (RuntimeError, ValueError):  # a lazy parameter has no size yet
        return 0


def _usable() -> int:
    """Bytes that this process may allocate."""
    sizes = []
    with contextlib.suppress(AttributeError, OSError, ValueError):  # Windows has none of it
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(ImportError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        sizes += [limit] if limit != resource.RLIM_INFINITY else []
    return min(sizes, default=2**62)
