"""Metal: weights of eight, four and two bits, which a kernel of MPS multiplies; whole elsewhere.

``MetalLinear`` of transformers 5.23, integrations/metal_quantization.py line 74, with a kernel of
the Hub's, kernels-community/mlx-quantization-metal-kernels. Which layers it takes the place of:
``replace_with_metal_linear``, line 135. Where there is no MPS, the weights are made floats when
they are loaded: quantizers/quantizer_metal.py line 49.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, one_of

_ops = torch.ops.mlx_quantization_metal_kernels
_BITS = ("2", "4", "8")
_WORD = 32
_DEVICE = "mps"


class Metal(Method):
    """Every linear layer but the last one."""

    name = "metal"
    library = "mlx_quantization_metal_kernels"
    whole = STAY
    notes = (
        Sentence(
            "weights for Metal stay packed on MPS alone; elsewhere transformers makes them floats "
            "when it loads them"
        ),
    )

    def models(self, model: nn.Module) -> bool:
        """Packed weights, with as many bits as there are kernels for (line 1851)."""
        one_of("bits", self.setting("bits", 4), _BITS)
        size = self._group()
        if not isinstance(size, int) or size <= 0:
            raise SourceError(
                Sentence("group_size is {text_value}, want a positive integer", text_value=size)
            )
        return not self.setting("dequantize")

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's."""
        bits = int(self.setting("bits", 4))
        if columns % self._group() or columns % (_WORD // bits):
            raise SourceError(
                Sentence(
                    "group_size is {text_value}, which does not divide {columns} features",
                    text_value=self._group(), columns=columns,
                )
            )  # fmt: skip
        return MetalLinear(rows, columns, linear.bias, bits, self._group())

    def _group(self) -> int:
        return self.setting("group_size", 64)  # type: ignore[no-any-return]  # a config's


class MetalLinear(nn.Module):
    """Weights that share words of 32 bits, with a scale and an offset for each group."""

    def __init__(self, rows: int, columns: int, bias: Any, bits: int, group: int) -> None:
        super().__init__()
        self.shape, self.bits, self.group = (rows, columns), bits, group
        packed = torch.empty(rows, columns // (_WORD // bits), dtype=torch.uint32)
        self.weight = nn.Parameter(packed, False)
        self.scales = nn.Parameter(torch.empty(rows, columns // group, dtype=torch.float32), False)
        self.qbiases = nn.Parameter(torch.empty_like(self.scales), False)
        self.bias = bias

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.shape, self.bits, self.group

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the kernel, or by whole weights where the device is none of Apple's."""
        if x.device.type != _DEVICE:
            return functional.linear(x, x.new_empty(self.shape), self.bias)
        scales, biases = self.scales.to(x.dtype), self.qbiases.to(x.dtype)
        out: Tensor = _ops.affine_qmm_t(x, self.weight, scales, biases, self.group, self.bits)
        return out if self.bias is None else out + self.bias
