"""bitsandbytes 0.50.1: weights of eight bits (LLM.int8) and of four (NF4, FP4).

Layers as bitsandbytes/nn/modules.py has them (Linear4bit line 504, Linear8bitLt line 1018), called
as bitsandbytes/autograd/_functions.py does in inference (matmul_4bit line 411, MatMul8bitLt line
101), at commit 37d2a9387f7146ccb85517ff45c665d345bfda79. Which layers they take the place of:
``replace_with_bnb_linear`` of transformers 5.23, integrations/bitsandbytes.py line 160.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.source.building.quantised import bitsandbytes_defaults as defaults
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import (
    Method,
    dtype_of,
    one_of,
)

_ops = torch.ops.bitsandbytes
BLOCK = 64
"""Weights that share a scale; the config does not tell, this is the library's default."""
NESTED_BLOCK = 256
"""Scales that share one of their own."""
_KINDS = ("nf4", "fp4")
_COMPUTE = (torch.float32, torch.float16, torch.bfloat16)
_STORAGE = (torch.uint8, torch.float16, torch.bfloat16, torch.float32)
_THRESHOLD = 6.0


class BitsAndBytes(Method):
    """Every linear layer but the last one."""

    name = "bitsandbytes"
    library = "bitsandbytes"
    defaults = defaults.KERNELS
    whole = STAY
    lists_experts = True

    def models(self, model: nn.Module) -> bool:
        """One of both widths; weights of eight bits are kept as they are computed with."""
        if self.setting("load_in_4bit"):
            return True
        return bool(self.setting("load_in_8bit")) and not self.setting("llm_int8_has_fp16_weight")

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("llm_int8_skip_modules", model)

    def replaceable(self, module: nn.Module) -> bool:
        """A linear layer, or that of GPT-2."""
        return super().replaceable(module) or type(module).__name__ == "Conv1D"

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """One of the library's two layers."""
        bias = linear.bias
        if not self.setting("load_in_4bit"):
            threshold = self.setting("llm_int8_threshold", _THRESHOLD)
            return Linear8bitLt(rows, columns, bias, threshold)
        compute = self.setting("bnb_4bit_compute_dtype") or torch.float32
        storage = self.setting("bnb_4bit_quant_storage") or torch.uint8
        return Linear4bit(
            rows, columns, bias,
            dtype_of("bnb_4bit_compute_dtype", compute, _COMPUTE),
            dtype_of("bnb_4bit_quant_storage", storage, _STORAGE),
            kind=one_of("bnb_4bit_quant_type", self.setting("bnb_4bit_quant_type", "fp4"), _KINDS),
            nested=bool(self.setting("bnb_4bit_use_double_quant")),
        )  # fmt: skip


class Linear8bitLt(nn.Module):
    """Weights of eight bits with a scale for each row; activations become eight bits as well."""

    def __init__(self, rows: int, columns: int, bias: Any, threshold: float) -> None:
        super().__init__()
        self.threshold = float(threshold)
        self.weight = nn.Parameter(torch.empty(rows, columns, dtype=torch.int8), False)
        self.register_buffer("SCB", torch.empty(rows, dtype=torch.float32))
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Quantise the rows of ``x``, multiply, and keep columns with outliers in full."""
        bias = None if self.bias is None else self.bias.to(x.dtype)
        flat = x.reshape(-1, x.shape[-1]) if x.dim() == 3 else x
        packed, scale, outliers = _ops.int8_vectorwise_quant(
            flat.to(torch.float16), threshold=self.threshold
        )
        if self.threshold > 0.0:
            out, _ = _ops.int8_mixed_scaled_mm(
                flat, packed, self.weight, scale, self.SCB, outliers, bias
            )
        else:
            out = _ops.int8_scaled_mm(
                packed, self.weight, scale, self.SCB, bias=bias, dtype=flat.dtype
            )
        shape = (*x.shape[:-1], self.weight.shape[0])
        return out.reshape(shape) if x.dim() == 3 else out  # type: ignore[no-any-return]  # an operator's


class Linear4bit(nn.Module):
    """Two weights a byte with a scale for each block, which may be of eight bits itself."""

    def __init__(
        self,
        rows: int,
        columns: int,
        bias: Any,
        compute: torch.dtype,
        storage: torch.dtype,
        *,
        kind: str,
        nested: bool,
    ) -> None:
        super().__init__()
        self.shape, self.compute, self.kind, self.nested = [rows, columns], compute, kind, nested
        numel = rows * columns
        packed = (numel + 1) // (storage.itemsize * 2)
        blocks = -(-numel // BLOCK)
        self.weight = nn.Parameter(torch.empty(packed, 1, dtype=storage), False)
        self.bias = bias
        scale = torch.uint8 if nested else torch.float32
        self.register_buffer("absmax", torch.empty(blocks, dtype=scale))
        self.register_buffer("quant_map", torch.empty(16))
        if nested:
            self.register_buffer("nested_absmax", torch.empty(-(-blocks // NESTED_BLOCK)))
            self.register_buffer("nested_quant_map", torch.empty(256))
            self.register_buffer("nested_offset", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply in the dtype of computing, and give what came in."""
        given = x.dtype
        x = x.to(self.compute)
        bias = None if self.bias is None else self.bias.to(x.dtype)
        scale, more = self.absmax, {}
        if self.nested:
            scale = self.nested_absmax
            more = {
                "absmax_8bit": self.absmax,
                "absmax_code": self.nested_quant_map,
                "absmax_offset": self.nested_offset,
            }
        weight = self.weight.view(-1, 1)
        out = _ops.gemm_4bit(x, weight, self.shape, scale, BLOCK, self.kind, bias=bias, **more)
        return out.to(given)  # type: ignore[no-any-return]  # an operator's
