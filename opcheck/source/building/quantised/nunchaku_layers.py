"""The layers of Nunchaku Lite, as diffusers 0.42 puts them in: quantizers/nunchaku/utils.py.

``SVDQW4A4Linear``, line 108: weights and activations of four bits, and what that loses by two thin
matrices. ``AWQW4A16Linear``, line 213: weights of four bits alone.
"""

from typing import Any

import torch
from torch import Tensor, nn

_PAIR = 2
_FEW_ROWS, _INNER, _OUTER = 16, 64, 128
"""From so many rows on, and in layers of multiples of these, there is one product."""
_CHUNK = 8
"""Rows that are multiplied at a time where there is none."""
_GROUP = 64


def _weights(*shape: int, dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(torch.empty(*shape, dtype=dtype), False)


class SVDQLinear(nn.Module):
    """A layer of four bits with a part of ``rank`` beside it."""

    def __init__(
        self, rows: int, columns: int, bias: bool, dtype: torch.dtype, *, rank: int, floats: bool
    ) -> None:
        super().__init__()
        self.rows, self.floats = rows, floats
        group, scale = (16, torch.float8_e4m3fn) if floats else (64, dtype)
        self.qweight = _weights(rows, columns // _PAIR, dtype=torch.int8)
        self.bias = _weights(rows, dtype=dtype) if bias else None
        self.wscales = _weights(columns // group, rows, dtype=scale)
        self.smooth_factor = _weights(columns, dtype=dtype)
        self.proj_down = _weights(columns, rank, dtype=dtype)
        self.proj_up = _weights(rows, rank, dtype=dtype)
        self.wcscales = _weights(rows, dtype=dtype) if floats else None
        self.wtscale = _weights(1, dtype=dtype) if floats else None

    def forward(self, x: Tensor) -> Tensor:
        """Quantise the rows of ``x``, and multiply."""
        held = self.qweight, self.wscales, self.smooth_factor, self.proj_down, self.proj_up
        flat, ops = x.reshape(-1, x.shape[-1]), torch.ops.nunchaku_lite
        out: Tensor
        if self.floats:
            out = ops.svdq_nvfp4_linear(flat, *held, self.wtscale, self.wcscales, self.bias)
        else:
            out = ops.svdq_int4_linear(flat, *held, self.bias)
        return out.reshape(*x.shape[:-1], self.rows)


class AWQLinear(nn.Module):
    """A layer with weights of four bits, 64 of which share a scale."""

    def __init__(
        self, rows: int, columns: int, bias: bool, dtype: torch.dtype, *, group: int
    ) -> None:
        super().__init__()
        self.rows, self.columns = rows, columns
        self.qweight = _weights(rows // 4, columns // _PAIR, dtype=torch.int32)
        self.bias = _weights(rows, dtype=dtype) if bias else None
        self.wscales = _weights(columns // group, rows, dtype=dtype)
        self.wzeros = _weights(columns // group, rows, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply all rows at once, or eight at a time."""
        shape, flat = (*x.shape[:-1], self.rows), x.reshape(-1, self.columns).contiguous()
        whole = self.columns % _INNER == 0 and self.rows % _OUTER == 0
        ops: Any = torch.ops.nunchaku_lite
        if flat.shape[0] >= _FEW_ROWS and whole:
            out = ops.awq_gemm_w4a16_g64_int32(flat, self.qweight, self.wscales, self.wzeros)
        else:
            starts = range(0, flat.shape[0], _CHUNK)
            out = torch.cat([self._rows(flat[start : start + _CHUNK]) for start in starts], dim=0)
        made: Tensor = out.reshape(shape)
        if self.bias is not None:
            made = made + self.bias.view([1] * (made.ndim - 1) + [-1])
        return made

    def _rows(self, x: Tensor) -> Tensor:
        held = self.qweight, self.wscales, self.wzeros
        out: Tensor = torch.ops.nunchaku_lite.gemv_awq(
            x, *held, x.shape[0], self.rows, self.columns, _GROUP
        )
        return out
