"""What bitsandbytes' operators run where the library has no kernel for the device.

It registers these for every device (``register_kernel(…, "default")``), and calls the operators
named here in this order: bitsandbytes/backends/default/ops.py and, for ``int8_vectorwise_dequant``,
bitsandbytes/_ops.py line 132, at commit 37d2a9387f7146ccb85517ff45c665d345bfda79. The library first
tries to compile parts of them, and runs them like this where that fails.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

_ops = torch.ops.bitsandbytes
_NESTED_BLOCK = 256
_LARGEST = 127.0


def _int8_vectorwise_quant(
    a: Tensor, threshold: float = 0.0
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Line 142: rows to eight bits; columns with outliers are put aside, and put back at the end.

    The library asks whether there is an outlier. Here there is: the threshold is made for
    activations that have them, and without any it calls less.
    """
    columns = saved = outliers = None
    if threshold > 0.0:
        outliers = a.abs() >= threshold
        columns = torch.argwhere(outliers.any(dim=0)).view(-1)
        saved = a[outliers].clone()
        a[outliers] = 0
    scale = torch.max(a.abs(), dim=1).values.float()
    packed = torch.round(a * (_LARGEST / scale.unsqueeze(-1))).to(torch.int8)
    if a.shape[0] > 1 and columns is not None:
        packed[:, columns] = 0
    if saved is not None and outliers is not None:
        a[outliers] = saved
    return packed, scale, columns


def _int8_vectorwise_dequant(a: Tensor, stats: Tensor) -> Tensor:
    return a * stats.view(-1, 1) * (1 / _LARGEST)


def _int8_linear_matmul(a: Tensor, b: Tensor) -> Tensor:
    """Line 132: by a product of float32."""
    return torch.matmul(a.float(), b.float().t()).to(torch.int32)


def _int8_mm_dequant(
    a: Tensor,
    row_stats: Tensor,
    col_stats: Tensor,
    dtype: torch.dtype | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """Line 38."""
    flat = a.view(-1, a.shape[-1])
    scales = row_stats.reshape(-1).unsqueeze(-1) * col_stats.reshape(-1).unsqueeze(0)
    out = flat * scales * (1 / _LARGEST**2)
    if bias is not None:
        out += bias
    return out.to(dtype or torch.float16)


def _int8_scaled_mm(
    a: Tensor,
    b: Tensor,
    row_stats: Tensor,
    col_stats: Tensor,
    bias: Tensor | None = None,
    dtype: torch.dtype | None = None,
) -> Any:
    """Line 103."""
    product = _ops.int8_linear_matmul(a, b)
    return _ops.int8_mm_dequant(
        product, row_stats, col_stats, dtype=dtype or torch.float16, bias=bias
    )


def _int8_mixed_scaled_mm(
    a: Tensor,
    small_a: Tensor,
    small_b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    outlier_cols: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Any, Tensor]:
    """Line 64: columns with outliers are multiplied as they are, and added."""
    weights = None
    if outlier_cols is not None and outlier_cols.numel():
        inputs = a[:, outlier_cols].contiguous()
        columns = small_b[:, outlier_cols].contiguous()
        weights = _ops.int8_vectorwise_dequant(columns, scale_b).to(a.dtype).t()
    else:
        inputs = a.new_empty(0)
    out = _ops.int8_scaled_mm(small_a, small_b, scale_a, scale_b, bias=bias, dtype=a.dtype)
    return (out if weights is None else out.addmm(inputs, weights)), inputs


def _dequantize_blockwise(
    a: Tensor, absmax: Tensor, code: Tensor, blocksize: int, dtype: torch.dtype
) -> Tensor:
    """Line 220: a table's entries times the scale of their block."""
    values = code[a.reshape(-1).to(torch.int64)]
    whole, rest = _scaled(values, absmax, blocksize)
    out = whole if rest is None else torch.cat([whole, rest])
    return out.to(dtype).reshape(a.shape)


def _dequantize_4bit(
    a: Tensor,
    absmax: Tensor,
    blocksize: int,
    quant_type: str,
    shape: Sequence[int],
    dtype: torch.dtype,
) -> Tensor:
    """Line 288: both halves of each byte; the table is on the device since an earlier call."""
    flat = (a if a.dtype == torch.uint8 else a.view(torch.uint8)).reshape(-1)
    places = flat.new_empty(flat.size(0) * 2, dtype=torch.int32)
    places[1::2] = flat & 0xF
    places[::2] = flat >> 4
    code = absmax.new_empty(16, dtype=torch.float32)
    values = code[places][: prod(shape)]
    out, rest = _scaled(values, absmax, blocksize)
    if rest is not None:
        whole, out = out, absmax.new_empty(values.numel(), dtype=torch.float32)
        out[: whole.numel()] = whole
        out[whole.numel() :] = rest
    return out.reshape(-1, *shape[1:]).to(dtype)


def _scaled(values: Tensor, absmax: Tensor, blocksize: int) -> tuple[Tensor, Tensor | None]:
    """Values times the scale of their block; those of a short last block apart."""
    numel, blocks = values.numel(), values.numel() // blocksize
    full = blocks * blocksize
    if full == numel:
        return (values.view(-1, blocksize) * absmax.view(-1, 1)).reshape(numel), None
    whole = values[:full].view(-1, blocksize) * absmax[:blocks].view(-1, 1)
    return whole.reshape(full), values[full:] * absmax[blocks]


def _gemv_4bit(
    a: Tensor, b: Tensor, shape_b: Sequence[int], absmax: Tensor, code: Tensor, blocksize: int
) -> Tensor:
    """Line 303."""
    weight = _ops.dequantize_4bit(b, absmax, blocksize, "nf4", shape_b, a.dtype)
    return functional.linear(a, weight)


def _gemm_4bit(
    a: Tensor,
    b: Tensor,
    shape_b: Sequence[int],
    absmax: Tensor,
    blocksize: int,
    quant_type: str,
    bias: Tensor | None = None,
    absmax_8bit: Tensor | None = None,
    absmax_code: Tensor | None = None,
    absmax_offset: Tensor | None = None,
) -> Tensor:
    """Line 323: scales first where they are packed themselves, then weights, then the product."""
    if absmax_8bit is not None and absmax_offset is not None:
        scales = _ops.dequantize_blockwise(
            absmax_8bit, absmax, absmax_code, _NESTED_BLOCK, torch.float32
        )
        absmax = scales + absmax_offset
    weight = _ops.dequantize_4bit(b, absmax, blocksize, quant_type, shape_b, a.dtype)
    return functional.linear(a, weight, bias)


KERNELS: Mapping[str, Callable[..., Any]] = {
    "bitsandbytes::dequantize_4bit": _dequantize_4bit,
    "bitsandbytes::dequantize_blockwise": _dequantize_blockwise,
    "bitsandbytes::gemm_4bit": _gemm_4bit,
    "bitsandbytes::gemv_4bit": _gemv_4bit,
    "bitsandbytes::int8_linear_matmul": _int8_linear_matmul,
    "bitsandbytes::int8_mixed_scaled_mm": _int8_mixed_scaled_mm,
    "bitsandbytes::int8_mm_dequant": _int8_mm_dequant,
    "bitsandbytes::int8_scaled_mm": _int8_scaled_mm,
    "bitsandbytes::int8_vectorwise_dequant": _int8_vectorwise_dequant,
    "bitsandbytes::int8_vectorwise_quant": _int8_vectorwise_quant,
}
"""Operator -> its kernel for every device."""
