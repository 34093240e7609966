"""Kernels that only devices have, and kernels whose strides differ from their meta function's."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

_ALWAYS = """
    _batch_norm_impl_index _batch_norm_with_update _embedding_bag_forward_only _fft_c2c _fft_c2r
    _fft_r2c _linalg_svd _native_batch_norm_legit _native_batch_norm_legit.no_stats batch_norm
    embedding_bag.padding_idx fft_hfft fft_hfft2 fft_hfftn fft_irfft fft_irfft2 fft_irfftn
    fft_rfft2 fft_rfftn linalg_eig linalg_svd native_batch_norm scaled_dot_product_attention svd
"""
_IF_PERMUTED = """
    _convolution _convolution.deprecated _convolution_mode binary_cross_entropy channel_shuffle
    conv1d conv1d.padding conv2d conv2d.padding conv_transpose1d conv_transpose2d.input
    convolution convolution_overrideable copysign.Tensor div.Scalar div.Tensor_mode floor_divide
    heaviside ldexp.Tensor log_sigmoid log_sigmoid_forward logaddexp logical_and logical_or
    logical_xor max_pool1d max_unpool2d mul.Scalar native_dropout_backward normal.Tensor_Tensor
    one_hot pad pixel_shuffle reflection_pad2d reflection_pad3d replication_pad2d
    replication_pad3d slow_conv_transpose2d special_xlog1py xlogy.Tensor
"""
CPU_ALWAYS = frozenset(f"aten::{name}" for name in _ALWAYS.split())
"""Overloads whose meta function gives other strides, or sizes, than the CPU kernel."""
CPU_IF_PERMUTED = frozenset(f"aten::{name}" for name in _IF_PERMUTED.split())
"""The same, but only for tensors that are not laid out row by row.

Both were measured over PyTorch's operator samples, plain and permuted, on torch 2.13.0;
``tests/trace/test_strides.py`` repeats it.
"""


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
    return target.copy_(source)


def _copy_from_and_resize(source: Tensor, target: Tensor) -> Tensor:
    return target.resize_(source.shape).copy_(source)


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
    "aten::_copy_from_and_resize": _copy_from_and_resize,
    "aten::histc": _histc,
}


@cache
def stand_in(func: Any) -> Callable[..., Any] | None:
    """Give what computes the shapes of a kernel that only devices have; None for all others."""
    return _KERNELS.get(func.name())
