"""Linear layers of compressed-tensors 0.20.0: packed weights, and activations rounded in floats.

Weights are made whole by the first forward call (compressors/pack_quantized/base.py line 113 and
compressors/naive_quantized/base.py line 95, which ``add_decompress_hook`` calls), and activations
are quantised and made whole again before the product: ``set_forward_quantized``,
quantization/lifecycle/forward.py line 203, with ``calculate_qparams`` of
quantization/utils/helpers.py (line 52) and ``_quantize_dequantize`` of
quantization/lifecycle/forward_helpers.py (line 169).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

PACKED_BITS = 4
_WORD = 32
_NIBBLE = 0xF
_ZERO = 8
_FLOAT8 = torch.float8_e4m3fn
_MATRIX = 2


@dataclass(frozen=True, slots=True)
class Rounding:
    """How numbers are rounded: what shares a scale, and to what."""

    strategy: str
    bits: int
    floating: bool
    symmetric: bool
    dynamic: bool
    group: int = 0
    block: tuple[int, int] = (1, 1)

    @property
    def dtype(self) -> torch.dtype:
        """What whole bytes are kept as."""
        return _FLOAT8 if self.floating else torch.int8

    def ends(self) -> tuple[float, float]:
        """The least and the largest number that there is."""
        if self.floating:
            info = torch.finfo(_FLOAT8)
            return info.min, info.max
        half = 2.0 ** (self.bits - 1)
        return -half, half - 1

    def scales(self, rows: int, columns: int) -> tuple[int, ...]:
        """The shape of the scales of a weight."""
        match self.strategy:
            case "group":
                return rows, -(-columns // self.group)
            case "block":
                return -(-rows // self.block[0]), -(-columns // self.block[1])
            case "channel":
                return rows, 1
            case _:
                return (1,)


class CompressedLinear(nn.Module):
    """A linear layer whose weight is packed, and whose input and output may be rounded."""

    def __init__(
        self,
        linear: Any,
        weights: Rounding | None,
        inputs: Rounding | None,
        outputs: Rounding | None,
        *,
        packed: bool,
    ) -> None:
        super().__init__()
        self.rows, self.columns = linear.out_features, linear.in_features
        self.weights, self.inputs, self.outputs, self.packed = weights, inputs, outputs, packed
        self.bias = linear.bias
        self._weigh(linear.weight)
        self._ends("input", inputs, linear.weight.dtype)
        self._ends("output", outputs, linear.weight.dtype)

    def _weigh(self, weight: nn.Parameter) -> None:
        rows, columns, how = self.rows, self.columns, self.weights
        if how is None:
            self.weight = weight
            return
        shape = how.scales(rows, columns)
        self.weight_scale = _kept(torch.empty(shape, dtype=weight.dtype))
        if self.packed:
            width = -(-columns * how.bits // _WORD)
            self.weight_packed = _kept(torch.empty(rows, width, dtype=torch.int32))
            self.weight_shape = _kept(torch.empty(_MATRIX, dtype=torch.int64))
            shape = -(-rows * how.bits // _WORD), shape[-1]
        else:
            self.weight = _kept(torch.empty(rows, columns, dtype=how.dtype))
        if not how.symmetric:
            kind = torch.int32 if self.packed else how.dtype
            self.weight_zero_point = _kept(torch.empty(shape, dtype=kind))

    def _ends(self, name: str, how: Rounding | None, dtype: torch.dtype) -> None:
        """Ends of the numbers that activations become, which the library keeps on the device."""
        if how is None:
            return
        for end, value in zip(("min", "max"), how.ends(), strict=True):
            self.register_buffer(f"_{name}_{end}", torch.tensor(value), persistent=False)
        if not how.dynamic:
            setattr(self, f"{name}_scale", _kept(torch.empty(1, dtype=dtype)))
            if not how.symmetric:
                setattr(self, f"{name}_zero_point", _kept(torch.empty(1, dtype=how.dtype)))

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        roundings = self.weights, self.inputs, self.outputs
        return self.rows, self.columns, self.packed, *roundings

    def forward(self, x: Tensor) -> Tensor:
        """Round what comes in, multiply by the whole weight, and round what goes out."""
        weight = self.weight if self.weights is None else self._whole(self.weights)
        if self.inputs is not None:
            x = self._rounded("input", x, self.inputs)
        out = functional.linear(x, weight, self.bias)
        return out if self.outputs is None else self._rounded("output", out, self.outputs)

    def _whole(self, how: Rounding) -> Tensor:
        """The weight as floats."""
        scale: Tensor = self.weight_scale
        zero: Tensor | None = None if how.symmetric else self.weight_zero_point
        if self.packed:
            if zero is not None:
                zero = _unpacked(zero.transpose(0, 1), self.rows).transpose(0, 1)
            weight = _unpacked(self.weight_packed, self.columns)
        else:
            weight = self.weight
        if how.strategy == "group":
            return _grouped(weight, scale, zero, how.group)
        if how.strategy == "block":
            return _blocked(weight, scale, zero, how.block)
        return _scaled(weight, scale, zero)

    def _rounded(self, name: str, x: Tensor, how: Rounding) -> Tensor:
        """Activations that became small numbers, and floats again."""
        low, high = getattr(self, f"_{name}_min"), getattr(self, f"_{name}_max")
        scale: Tensor
        zero: Tensor | None
        if how.dynamic:
            scale, zero = _measured(x, how, low, high)
        else:
            scale, zero = getattr(self, f"{name}_scale"), getattr(self, f"{name}_zero_point", None)
        if how.strategy != "group":
            return _there_and_back(x, scale, zero, how, (low, high))
        parts = x.unflatten(-1, (-1, how.group))
        scale, zero = _wider(scale, zero)
        made = _there_and_back(parts, scale, zero, how, (low, high))
        return made.flatten(start_dim=-2).to(x.dtype)


def _unpacked(packed: Tensor, columns: int) -> Tensor:
    """``unpack_from_int32``, compressors/pack_quantized/helpers.py line 105, for four bits."""
    halves = packed.contiguous().view(torch.uint8)
    pairs = torch.stack((halves & _NIBBLE, halves >> PACKED_BITS), dim=-1)
    return pairs.view(torch.int8).view(packed.shape[0], -1)[:, :columns] - _ZERO


def _scaled(weight: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    whole = weight.to(scale.dtype)
    if zero is not None:
        whole = whole - zero.to(scale.dtype)
    return whole * scale


def _wider(scale: Tensor, zero: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Scales and zeros with a dimension for the members of a group."""
    return scale.unsqueeze(-1), None if zero is None else zero.unsqueeze(-1)


def _grouped(weight: Tensor, scale: Tensor, zero: Tensor | None, group: int) -> Tensor:
    parts = weight.unflatten(-1, (-1, group))
    return _scaled(parts, *_wider(scale, zero)).flatten(start_dim=-2).to(scale.dtype)


def _blocked(weight: Tensor, scale: Tensor, zero: Tensor | None, block: tuple[int, int]) -> Tensor:
    rows, columns = weight.shape
    more = -rows % block[0], -columns % block[1]
    if any(more):
        weight = functional.pad(weight, (0, more[1], 0, more[0]), mode="constant", value=0)
    padded = weight.shape
    parts = weight.reshape(padded[0] // block[0], block[0], padded[1] // block[1], block[1])
    parts = parts.transpose(1, 2)
    made = _scaled(parts, *_wider(*_wider(scale, zero)))
    whole = made.transpose(1, 2).reshape(padded)
    return whole[:rows, :columns] if any(more) else whole


def _measured(x: Tensor, how: Rounding, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """A scale and a zero for what is measured together."""
    least, most = _extremes(x, how)
    least = torch.min(least, torch.zeros_like(least))
    most = torch.max(most, torch.zeros_like(most))
    width = high - low
    if how.symmetric:
        largest = torch.max(torch.abs(least), torch.abs(most))
        scale = largest / (width.to(largest.dtype) / 2)
        zero = torch.zeros(scale.shape, device=least.device, dtype=least.dtype)
    else:
        scale = (most - least) / width.to(most.dtype)
        zero = torch.clamp(low - (least / scale), low, high)
    tiny = torch.tensor(torch.finfo(scale.dtype).eps, dtype=scale.dtype, device=scale.device)
    scale = torch.where(scale == 0, tiny, scale)
    ends = torch.finfo(_FLOAT8) if how.floating else torch.iinfo(torch.int8)
    zero = torch.clamp(zero, ends.min, ends.max)
    zero = (zero if how.floating else torch.round(zero)).to(how.dtype)
    if scale.dim() == 0:
        scale, zero = scale.reshape(1), zero.reshape(1)
    return scale, zero


def _extremes(x: Tensor, how: Rounding) -> tuple[Tensor, Tensor]:
    dims: int | tuple[int, ...] = ()
    if how.strategy == "group":
        x, dims = x.unflatten(-1, (-1, how.group)), -1
    elif how.strategy == "token":
        dims = tuple(range(_MATRIX, x.dim()))
    if not dims:
        least, most = torch.aminmax(x)
        return least, most
    keep = how.strategy != "group"
    return torch.amin(x, dim=dims, keepdim=keep), torch.amax(x, dim=dims, keepdim=keep)


def _there_and_back(
    x: Tensor, scale: Tensor, zero: Tensor | None, how: Rounding, ends: tuple[Tensor, Tensor]
) -> Tensor:
    small = x / scale
    if zero is not None:
        small += zero.to(x.dtype)
    small = torch.clamp(small, *ends)
    rounded = small.to(_FLOAT8) if how.floating else torch.round(small)
    return _scaled(rounded.to(small.dtype), scale, zero)


def _kept(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor, False)
