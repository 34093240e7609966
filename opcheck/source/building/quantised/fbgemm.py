"""FBGEMM's weights of eight-bit floats with a scale for each row, as Llama 3.1 405B has them.

``FbgemmFp8Linear`` of transformers 5.23, integrations/fbgemm_fp8.py line 104: by FBGEMM's kernels
on CUDA, by torch._scaled_mm on XPU. Which layers it takes the place of: line 269; of experts that
a model keeps together, those of Llama 4 alone. Devices:
quantizers/quantizer_fbgemm_fp8.py lines 55 to 74, which makes every model one of bfloat16.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.source.building.quantised.experts import LLAMA_4, STAY
from opcheck.source.building.quantised.fbgemm_experts import FbgemmFp8Experts
from opcheck.source.building.quantised.method import Method

_PACKED = torch.float8_e4m3fn


class FbgemmFP8(Method):
    """Every linear layer but the last one and Llama 4's experts, in models of bfloat16."""

    name = "fbgemm_fp8"
    library = "fbgemm"
    whole = STAY

    def models(self, model: nn.Module) -> bool:
        """Layers whose dtype the library does not change."""
        linear = (module for module in model.modules() if isinstance(module, nn.Linear))
        return all(module.weight.dtype == torch.bfloat16 for module in linear)

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class, and experts of Llama 4."""
        return isinstance(module, nn.Linear) or type(module).__name__ == LLAMA_4

    def made(self, module: nn.Module) -> nn.Module:
        """The same with packed weights."""
        if isinstance(module, nn.Linear):
            return super().made(module)
        return FbgemmFp8Experts(module)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        bias: Any = linear.bias
        return FbgemmFp8Linear(rows, columns, bias)


class FbgemmFp8Linear(nn.Module):
    """Weights and activations of eight bits, each row with a scale."""

    input_scale_ub: Tensor

    def __init__(self, rows: int, columns: int, bias: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows, columns, dtype=_PACKED), False)
        self.weight_scale = nn.Parameter(torch.zeros(rows, 1), False)
        self.register_buffer("input_scale_ub", torch.zeros(1), persistent=False)
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Quantise rows of ``x``, and multiply."""
        flat = x.view(-1, x.shape[-1]).contiguous()
        scale = self.weight_scale.to(torch.float32)
        if x.device.type == "xpu":
            packed, rows = torch.ops.fp8_fbgemm.quantize_fp8_per_row(flat, self.input_scale_ub)
            out = torch._scaled_mm(  # private; checked with torch 2.13
                packed, self.weight.t(), scale_a=rows.unsqueeze(-1), scale_b=scale.t(),
                out_dtype=x.dtype, bias=self.bias,
            )  # fmt: skip
        else:
            ops = torch.ops.fbgemm
            packed, rows = ops.quantize_fp8_per_row(flat, scale_ub=self.input_scale_ub)
            out = ops.f8f8bf16_rowwise(packed, self.weight, rows, scale, use_fast_accum=True)
            out = out if self.bias is None else out + self.bias
        return out.reshape(*x.shape[:-1], -1)
