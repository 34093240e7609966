"""Branches that C++ takes only under a dispatch mode, put right as a plain device tensor goes.

Some composite kernels ask ``isTensorSubclassLike``, which holds for every tensor while a mode is
on (checked on torch 2.13.0; ``tests/trace/test_exact.py`` holds them against a real device).
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from opcheck.trace.device import Spec

_Parts = tuple[Any, tuple[Any, ...], Mapping[str, Any] | None]
"""An overload with its arguments."""

_ATEN = torch.ops.aten


def as_plain(outer: Any, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None) -> Any:
    """What the composite ``outer`` calls on a plain tensor where it calls ``func`` under a mode."""
    rule = _RULES.get((outer, func))
    return (func, args, kwargs) if rule is None else rule(args, kwargs)


def _viewed(args: tuple[Any, ...], kwargs: Mapping[str, Any] | None) -> _Parts:
    """``reshape`` gives a view that it knows the strides of; contiguous tensors it views first."""
    tensor, size = args
    if tensor.is_contiguous():
        return _ATEN.view.default, args, kwargs
    stride = Spec.like(tensor).on_meta().view(size).stride()
    return _ATEN._reshape_alias.default, (tensor, size, list(stride)), kwargs


def _masked(args: tuple[Any, ...], kwargs: Mapping[str, Any] | None) -> _Parts:
    """Attention adds its mask in place."""
    return _ATEN.add_.Tensor, args, kwargs


_RULES: Mapping[tuple[Any, Any], Callable[[tuple[Any, ...], Mapping[str, Any] | None], _Parts]] = {
    (_ATEN.reshape.default, _ATEN.view.default): _viewed,
    (_ATEN._scaled_dot_product_attention_math.default, _ATEN.add.Tensor): _masked,
}
