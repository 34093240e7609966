"""compressed-tensors 0.20.0's floats of four bits, and those of eight with scales that are powers.

NVFP4 (compressors/nvfp4/base.py line 39), MXFP4 (compressors/mxfp4/base.py) and MXFP8
(compressors/mxfp8/base.py), which the first forward call makes whole in bfloat16. Activations
become floats of four bits, and whole again: ``cast_to_fp4``, quantization/utils/fp4_utils.py line
77, by Triton on CUDA and XPU.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.source.building.quantised.compressed_layers import (
    PACKED_BITS,
    CompressedLinear,
    Rounding,
    grouped,
    kept,
)

SMALL_FORMATS = ("nvfp4-pack-quantized", "mxfp4-pack-quantized", "mxfp8-quantized")
_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Floats of four bits without a sign."""
_PAIR, _BIAS = 2, 127
_STEPS = ((0.25, 0.75, 0.5), (1.25, 1.75, 1.5), (2.5, 3.5, 3.0))
"""Numbers between two others, and what they become."""
_EVEN = ((0.75, 1.25, 1.0), (1.75, 2.5, 2.0), (3.5, 5.0, 4.0))
"""The same with the ends."""


def _cast_to_fp4(x: Tensor) -> Tensor:
    """What runs where no Triton is: the nearest float of four bits."""
    sign, x = torch.sign(x), torch.abs(x)
    x[(x >= 0.0) & (x <= _STEPS[0][0])] = 0.0
    for (low, high, value), (first, last, whole) in zip(_STEPS, _EVEN, strict=True):
        x[(x > low) & (x < high)] = value
        x[(x >= first) & (x <= last)] = whole
    x[x > _EVEN[-1][1]] = _VALUES[-1]
    return x * sign


KERNELS: Mapping[str, Callable[..., Any]] = {"compressed_tensors::cast_to_fp4": _cast_to_fp4}
"""Operator -> what runs on every device."""


class SmallFloatLinear(CompressedLinear):
    """Weights of floats in groups, whose scales are floats of eight bits or powers of two."""

    def _weigh(self, weight: nn.Parameter) -> None:
        how: Rounding = self.weights  # type: ignore[assignment]  # there is one here
        rows, columns, four = self.rows, self.columns, how.bits == PACKED_BITS
        powers = how.strategy == "group"
        kind = how.scale or (torch.uint8 if powers else torch.float8_e4m3fn)
        self.weight_scale = kept(torch.empty(how.scales(rows, columns), dtype=kind))
        if four:
            packed = torch.empty(rows, columns // _PAIR, dtype=torch.uint8)
            self.weight_packed = kept(packed)
        else:
            self.weight = kept(torch.empty(rows, columns, dtype=how.dtype))
        if not powers:
            self.weight_global_scale = kept(torch.empty(1))
        self.register_buffer("_values", torch.tensor(_VALUES), persistent=False)

    def _whole(self, how: Rounding) -> Tensor:
        """The weight in bfloat16."""
        scale: Tensor = self.weight_scale
        weight = self._apart() if how.bits == PACKED_BITS else self.weight
        if scale.dtype == torch.uint8:
            exponent = scale.to(torch.int32) - _BIAS
            scale = 2.0 ** exponent.to(torch.bfloat16)
        scale = scale.to(torch.bfloat16)
        return grouped(weight, scale, None, how.group, getattr(self, "weight_global_scale", None))

    def _apart(self) -> Tensor:
        """``unpack_fp4_from_uint8``, compressors/nvfp4/helpers.py line 418."""
        flat = self.weight_packed.flatten()
        high, low = (flat & 0xF0) >> 4, flat & 0x0F
        both = torch.stack((low, high), dim=1).flatten()
        signs, places = (both & 0x08).to(torch.bool), (both & 0x07).to(torch.long)
        values: Any = self._values
        found: Tensor = values[places] * torch.where(signs, -1.0, 1.0)
        return found.reshape(self.rows, self.columns).to(torch.bfloat16)
