"""Kernels that only devices have, and kernels whose strides differ from their meta function's."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

CPU_STRIDES = frozenset(
    {
        "aten::scaled_dot_product_attention",
    }
)
"""Overloads whose meta function returns other strides than the CPU kernel; run on zeros instead."""


def _lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    return torch.empty_like(cx), torch.empty_like(cx), torch.empty_like(input_gates)


def _gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    batch, hidden = hx.shape
    return torch.empty_like(hx), hx.new_empty(batch, hidden * 5)


def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    return target


def _histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    return torch.histc(x.float(), bins, min, max).to(x.dtype)


def _convolution(*args: Any, **kwargs: Any) -> Any:
    return torch.ops.aten.convolution.default(*args, **kwargs)


def _attention(
    query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    found: tuple[Any, ...]
    found = torch.ops.aten._scaled_dot_product_flash_attention.default(query, key, value)
    return found


_KERNELS: dict[str, Callable[..., Any]] = {
    "aten::convolution_overrideable": _convolution,
    "aten::_scaled_dot_product_fused_attention_overrideable": _attention,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_copy_from": _copy_from,
    "aten::_copy_from_and_resize": _copy_from,
    "aten::histc": _histc,
}


@cache
def stand_in(func: Any) -> Callable[..., Any] | None:
    """Give what computes the shapes of a kernel that only devices have; None for all others."""
    return _KERNELS.get(func.name())
