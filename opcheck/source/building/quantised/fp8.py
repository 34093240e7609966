"""Weights of eight-bit floats with a scale for each block, as Qwen's FP8 models have.

``FP8Linear`` of transformers 5.23, integrations/finegrained_fp8.py line 388, and what it calls:
``finegrained_fp8_linear``, line 179, a Triton kernel; where DeepGEMM can be loaded, it is taken for
the same product. Which layers it takes the place of: ``replace_with_fp8_linear``, line 935. Where
there is neither CUDA nor XPU, or CUDA below compute capability 8.9, the weights are made floats of
the model's dtype when they are loaded: quantizers/quantizer_finegrained_fp8.py lines 38 to 53.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import experts_of
from opcheck.source.building.quantised.fp8_experts import (
    FP8Experts,
    grouped,
    packable,
)
from opcheck.source.building.quantised.method import (
    Method,
    Section,
    features,
    is_kept,
    one_of,
)

_ops = torch.ops.finegrained_fp8
_PACKED = torch.float8_e4m3fn
_DEVICES = ("cuda", "xpu")
_BLOCK = (128, 128)
_MX = [1, 32]
"""Blocks of MXFP8, whose scales are of ue8m0."""
_LEAST = 16
"""Rows and columns that a block has to have for Triton to multiply by it."""
_SCALES = {"float": torch.float32, "ue8m0": torch.float8_e8m0fnu}


def _matmul(
    a: Tensor,
    b: Tensor,
    b_scale: Tensor,
    block_size: Sequence[int] | None,
    output_dtype: torch.dtype,
    activation_scale: Tensor | None = None,
) -> Tensor:
    """What runs on GPUs below compute capability 8.9: the weights are whole there."""
    return functional.linear(a, a.new_empty(b.shape))


class FineGrainedFP8(Method):
    """Every linear layer but the last one, and the experts of a layer."""

    name = "fp8"
    library = "finegrained_fp8"
    defaults: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "finegrained_fp8::matmul_2d": _matmul,
        "finegrained_fp8::matmul_grouped": grouped,
    }

    notes = (
        Sentence(
            "weights of FP8 stay packed on CUDA from compute capability 8.9 on, on ROCm and on "
            "XPU; elsewhere transformers makes them floats of 16 bits when it loads them"
        ),
    )

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.experts: set[nn.Module] = set()

    def models(self, model: nn.Module) -> bool:
        """Linear layers, and experts with scales for blocks that are computed all at once."""
        if self.setting("dequantize") or self.setting("modules_to_convert"):
            return False
        block = self._block()
        if block is not None and min(block) < _LEAST and not self._is_mx(model, block):
            return False
        if any("GroupedLinear" in type(module).__name__ for module in model.modules()):
            return False
        kept = self.kept(model)
        self.experts = {one for path, one in experts_of(model) if not is_kept(path, kept)}
        blocks = self._block() is not None and self.setting("expert_dtype", "fp8") == "fp8"
        least = min(block or [0]) >= _LEAST or block == _MX
        known = blocks and not self._static() and least
        return not self.experts or (known and all(map(packable, self.experts)))

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        key = "modules_to_not_convert"
        if self.setting(key) is None:
            key = "ignored_layers"
        return self.kept_by(key, model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers and the experts of a layer."""
        return super().replaceable(module) or module in self.experts

    def made(self, module: nn.Module) -> nn.Module:
        """The same with packed weights."""
        block = self._block()
        if module in self.experts and block is not None:
            return FP8Experts(module, block=block, scale=self._scale(), devices=_DEVICES)
        return self.layer(module, *features(module))

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        bias: Any = linear.bias
        return FP8Linear(
            rows, columns, bias, block=self._block(), scale=self._scale(), static=self._static()
        )

    def _block(self) -> list[int] | None:
        block = self.setting("weight_block_size", _BLOCK)
        return None if block is None else list(block)

    def _scale(self) -> torch.dtype:
        return _SCALES[one_of("scale_fmt", self.setting("scale_fmt", "float"), list(_SCALES))]

    def _is_mx(self, model: nn.Module, block: list[int]) -> bool:
        """Whether the kernel takes scales for 32 weights of a row: matmul.py lines 639 and 652."""
        scaled = block == _MX and self._scale() == _SCALES["ue8m0"] and not self._static()
        kept = self.kept(model)
        return scaled and all(
            features(module)[1] % _MX[1] == 0
            for path, module in model.named_modules()
            if type(module) is nn.Linear and not is_kept(path, kept)
        )

    def _static(self) -> bool:
        return str(self.setting("activation_scheme", "dynamic")).lower() == "static"


class MXFP8(FineGrainedFP8):
    """The same with scales for 32 weights of a row, as the library names it as well."""

    name = "mxfp8"


class FP8Linear(nn.Module):
    """Weights of eight bits; activations become eight bits in the kernel."""

    def __init__(
        self,
        rows: int,
        columns: int,
        bias: Any,
        *,
        block: list[int] | None,
        scale: torch.dtype,
        static: bool,
    ) -> None:
        super().__init__()
        self.block = block
        self.weight = nn.Parameter(torch.empty(rows, columns, dtype=_PACKED), False)
        made = torch.ones(())
        if block is not None:
            made = torch.empty(-(-rows // block[0]), -(-columns // block[1]), dtype=scale)
        self.weight_scale_inv = nn.Parameter(made, False)
        self.activation_scale = nn.Parameter(torch.ones(()), False) if static else None
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the kernel, or by whole weights where there is none for the device."""
        if x.device.type not in _DEVICES:
            return functional.linear(x, x.new_empty(self.weight.shape), self.bias)
        out: Tensor = _ops.matmul_2d(
            x, self.weight, self.weight_scale_inv, self.block, x.dtype, self.activation_scale
        )
        return out if self.bias is None else out.add_(self.bias)
