"""Llama 4's experts as FBGEMM's weights of eight-bit floats, one expert after another.

``FbgemmFp8Llama4TextExperts`` of transformers 5.23, integrations/fbgemm_fp8.py line 152.
"""

from typing import Any

import torch
from torch import Tensor, nn

_PACKED = torch.float8_e4m3fn


class FbgemmFp8Experts(nn.Module):
    """Weights of eight bits with a scale for each feature that goes out."""

    input_scale_ub: Tensor

    def __init__(self, experts: Any) -> None:
        super().__init__()
        self.act_fn = experts.act_fn
        count, hidden, both = experts.gate_up_proj.shape
        self.count, self.hidden, self.wide = count, hidden, both // 2
        self.gate_up_proj = _kept((count, hidden, both), _PACKED)
        self.gate_up_proj_scale = _kept((count, 1, both), torch.float32)
        self.down_proj = _kept((count, self.wide, hidden), _PACKED)
        self.down_proj_scale = _kept((count, hidden, 1), torch.float32)
        self.register_buffer("input_scale_ub", torch.zeros(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """What each expert computes of its rows of ``x``."""
        rows = x.view(self.count, -1, self.hidden)
        out = torch.empty_like(rows)
        multiply = self._scaled if x.device.type == "xpu" else self._rowwise
        for index in range(self.count):
            out[index] = multiply(index, rows[index].reshape(-1, self.hidden))
        return out.view(-1, self.hidden)

    def _rowwise(self, index: int, x: Tensor) -> Tensor:
        """By FBGEMM's kernels, on CUDA."""
        ops = torch.ops.fbgemm
        packed, scale = ops.quantize_fp8_per_row(x, None, self.input_scale_ub)
        scales, made = self.gate_up_proj_scale.to(torch.float32), []
        for half in (slice(None, self.wide), slice(self.wide, None)):
            weight = self.gate_up_proj[index].transpose(0, 1)[half].contiguous()
            own = scales[index][0][half].view(-1, 1).contiguous()
            made.append(ops.f8f8bf16_rowwise(packed, weight, scale, own, use_fast_accum=True))
        gate, up = made
        packed, scale = ops.quantize_fp8_per_row(up * self.act_fn(gate), None, self.input_scale_ub)
        scales = self.down_proj_scale.to(torch.float32)
        out: Tensor = ops.f8f8bf16_rowwise(
            packed, self.down_proj[index].transpose(0, 1).contiguous(), scale,
            scales[index].view(-1, 1).contiguous(), use_fast_accum=True,
        )  # fmt: skip
        return out

    def _scaled(self, index: int, x: Tensor) -> Tensor:
        """By PyTorch's product on XPU, where the bound of scales is not handed on as one."""
        quantise = torch.ops.fp8_fbgemm.quantize_fp8_per_row
        packed, scale = quantise(x)
        scales, made = self.gate_up_proj_scale.to(torch.float32), []
        for half in (slice(None, self.wide), slice(self.wide, None)):
            weight = self.gate_up_proj[index].transpose(0, 1)[half].contiguous().t()
            own = scales[index][0][half].view(-1, 1).contiguous().t()
            made.append(_product(packed, weight, scale, own, x.dtype))
        gate, up = made
        packed, scale = quantise(up * self.act_fn(gate))
        weight = self.down_proj[index].transpose(0, 1).contiguous()
        scales = self.down_proj_scale.to(torch.float32)
        return _product(packed, weight, scale, scales[index].view(-1, 1).contiguous().t(), x.dtype)


def _product(x: Tensor, weight: Tensor, scale: Tensor, own: Tensor, dtype: torch.dtype) -> Tensor:
    return torch._scaled_mm(  # private; checked with torch 2.13
        x, weight, scale_a=scale.unsqueeze(-1), scale_b=own, out_dtype=dtype
    )


def _kept(shape: tuple[int, ...], dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(torch.zeros(shape, dtype=dtype), False)
