"""Views of what attention gives that hold while ``torch.export`` captures, and not afterwards.

Checked on torch 2.13.0. While it captures, the result lies as the query does
(``torch/_meta_registrations.py:6389``): of heads that were made by a view and a transpose, each
position's lie together, so that code which joins them needs no copy, and the graph gets none. What
the kernel is decomposed into later gives the batch within the positions
(``torch/_decomp/decompositions.py:5835``): a view that joins the batch with the positions is then
not possible, unless one of the two has one element. Private torch API used here:
``_disable_current_modes``, ``torch._fused_sdp_choice``, ``WeakTensorKeyDictionary``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.weak import WeakTensorKeyDictionary

_VIEWED: frozenset[Any] = frozenset({
    torch.reshape, torch.flatten, torch.Tensor.reshape, torch.Tensor.flatten, torch.Tensor.view
})  # fmt: skip
"""Functions that give a view where the elements lie for it; ``view`` raises elsewhere."""
_ALIKE: frozenset[Any] = frozenset({
    torch.transpose, torch.permute, torch.squeeze, torch.unsqueeze, torch.clone,
    torch.Tensor.transpose, torch.Tensor.permute, torch.Tensor.squeeze, torch.Tensor.unsqueeze,
    torch.Tensor.clone,
})  # fmt: skip
"""Functions that a graph has as they are called."""
_RANK = 4


class _Laid(Struct, frozen=True):
    """How the elements of a tensor lie, as a tensor without elements."""

    captured: Tensor
    decomposed: Tensor


class AttentionViews:
    """Follows what attention gives through views of it."""

    def __init__(self) -> None:
        self._laid: Any = WeakTensorKeyDictionary()
        self.refused: list[tuple[int, ...]] = []
        """The shapes of tensors that a view does not hold of after the decomposition."""

    def look(
        self, func: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any], made: Any
    ) -> None:
        """Look at one call, and what it gave."""
        if not isinstance(made, Tensor):
            return
        if func is functional.scaled_dot_product_attention:
            query = args[0] if args else given.get("query")
            with _disable_current_modes():  # none of these calls is the model's
                if isinstance(query, Tensor) and _by_flash(query, args, given):
                    self._laid[made] = _of_attention(query)
        elif args and isinstance(args[0], Tensor) and args[0] in self._laid:
            with _disable_current_modes():
                self._follow(func, args, given, made)

    def _follow(
        self, func: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any], made: Tensor
    ) -> None:
        laid = self._laid[args[0]]
        if func is torch.Tensor.contiguous and laid.captured.is_contiguous():
            self._laid[made] = laid  # the graph has nothing of it
        elif func in _ALIKE:
            rest = args[1:]
            self._laid[made] = _Laid(
                func(laid.captured, *rest, **given), func(laid.decomposed, *rest, **given)
            )
        elif func in _VIEWED and _holds(laid.captured, made.shape):
            if _holds(laid.decomposed, made.shape):
                views = (each.view(made.shape) for each in (laid.captured, laid.decomposed))
                self._laid[made] = _Laid(*views)
            elif func is torch.Tensor.view:
                self.refused.append(tuple(args[0].shape))


def _of_attention(query: Tensor) -> _Laid:
    batch, heads, length, width = query.shape
    captured = torch.empty_strided(query.shape, query.stride(), device="meta")
    decomposed = torch.empty(length, batch, heads, width, device="meta").permute(1, 2, 0, 3)
    return _Laid(torch.empty_like(captured), decomposed)


def _by_flash(query: Tensor, args: Sequence[Any], given: Mapping[str, Any]) -> bool:
    """Whether PyTorch runs the call by that kernel on a CPU; nothing is computed."""
    tensors = [each for each in (*args, *given.values()) if isinstance(each, Tensor)]
    if query.dim() != _RANK or any(each.layout is not torch.strided for each in tensors):
        return False
    try:
        own = [_there(value) for value in args]
        chosen = torch._fused_sdp_choice(*own, **{name: _there(given[name]) for name in given})
    except RuntimeError:  # no memory for tensors of such sizes
        return False
    return int(chosen) == int(SDPBackend.FLASH_ATTENTION.value)


def _there(value: Any) -> Any:
    """A tensor on the CPU that lies as this one; other values as they are."""
    if not isinstance(value, Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)


def _holds(tensor: Tensor, shape: Sequence[int]) -> bool:
    try:
        tensor.view(tuple(shape))
    except RuntimeError:  # its elements do not lie for it
        return False
    return True
