"""Linear layers of compressed-tensors 0.20.0: packed weights, and activations rounded in floats.

Weights are made whole by the first forward call (compressors/pack_quantized/base.py line 113 and
compressors/naive_quantized/base.py line 95, which ``add_decompress_hook`` calls), and activations
are quantised and made whole again before the product: ``set_forward_quantized``,
quantization/lifecycle/forward.py line 203, with ``calculate_qparams`` of
quantization/utils/helpers.py (line 52) and ``_quantize_dequantize`` of
quantization/lifecycle/forward_helpers.py (line 169). Integers of other bits than four are taken
apart in compressed_words.py, and floats of four bits in compressed_fp4.py.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.source.building.quantised.compressed_words import table_of, unpacked_by_words

PACKED_BITS = 4
_WORD = 32
_NIBBLE = 0xF
_ZERO = 8
_FLOAT8 = torch.float8_e4m3fn
_MOST_OF_FOUR, _LEAST_SCALE = 6.0, 0.125
"""The largest float of four bits, and what a scale of eight bits is where it would be zero."""
_GROUPS = ("group", "tensor_group")
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
    scale: torch.dtype | None = None

    @property
    def dtype(self) -> torch.dtype:
        """What whole bytes are kept as."""
        return _FLOAT8 if self.floating else torch.int8

    def ends(self) -> tuple[float, float]:
        """The least and the largest number that there is."""
        if self.floating and self.bits == PACKED_BITS:
            return -_MOST_OF_FOUR, _MOST_OF_FOUR
        if self.floating:
            info = torch.finfo(_FLOAT8)
            return info.min, info.max
        half = 2.0 ** (self.bits - 1)
        return -half, half - 1

    def scales(self, rows: int, columns: int) -> tuple[int, ...]:
        """The shape of the scales of a weight."""
        match self.strategy:
            case "group" | "tensor_group":
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
        self.weight_scale = kept(torch.empty(shape, dtype=weight.dtype))
        if self.packed:
            width = -(-columns * how.bits // _WORD)
            self.weight_packed = kept(torch.empty(rows, width, dtype=torch.int32))
            self.weight_shape = kept(torch.empty(_MATRIX, dtype=torch.int64))
            shape = -(-rows * how.bits // _WORD), shape[-1]
            self._table = table_of(self, how.bits) if how.bits != PACKED_BITS else None
        else:
            self.weight = kept(torch.empty(rows, columns, dtype=how.dtype))
        if not how.symmetric:
            kind = torch.int32 if self.packed else how.dtype
            self.weight_zero_point = kept(torch.empty(shape, dtype=kind))

    def _ends(self, name: str, how: Rounding | None, dtype: torch.dtype) -> None:
        """Ends of the numbers that activations become, which the library keeps on the device."""
        if how is None:
            return
        for end, value in zip(("min", "max"), how.ends(), strict=True):
            self.register_buffer(f"_{name}_{end}", torch.tensor(value), persistent=False)
        if how.strategy == "tensor_group":
            setattr(self, f"{name}_global_scale", kept(torch.empty(1)))
        if not how.dynamic:
            setattr(self, f"{name}_scale", kept(torch.empty(1, dtype=dtype)))
            if not how.symmetric:
                setattr(self, f"{name}_zero_point", kept(torch.empty(1, dtype=how.dtype)))

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
                zero = _unpacked(zero, self.rows, how.bits, self._table, turned=True)
            weight = _unpacked(self.weight_packed, self.columns, how.bits, self._table)
        else:
            weight = self.weight
        if how.strategy == "group":
            return grouped(weight, scale, zero, how.group)
        if how.strategy == "block":
            return _blocked(weight, scale, zero, how.block)
        return _scaled(weight, scale, zero)

    def _rounded(self, name: str, x: Tensor, how: Rounding) -> Tensor:
        """Activations that became small numbers, and floats again."""
        low, high = getattr(self, f"_{name}_min"), getattr(self, f"_{name}_max")
        whole: Tensor | None = getattr(self, f"{name}_global_scale", None)
        scale: Tensor
        zero: Tensor | None
        if how.dynamic:
            scale, zero = _measured(x, how, low, high, whole)
        else:
            scale, zero = getattr(self, f"{name}_scale"), getattr(self, f"{name}_zero_point", None)
        if how.strategy not in _GROUPS:
            return _there_and_back(x, scale, zero, how, (low, high))
        parts = x.unflatten(-1, (-1, how.group))
        scale, zero = _wider(scale, zero)
        scale = scale if whole is None else scale / whole
        made = _there_and_back(parts, scale, zero, how, (low, high))
        return made.flatten(start_dim=-2).to(x.dtype)


def _unpacked(packed: Tensor, count: int, bits: int, table: Any, *, turned: bool = False) -> Tensor:
    """``unpack_from_int32``, compressors/pack_quantized/helpers.py line 105.

    Of the numbers in a row, or ``turned`` in a column, as many as there were.
    """
    packed = packed.transpose(0, 1) if turned else packed
    if bits != PACKED_BITS:
        return unpacked_by_words(packed, count, bits, table, turned=turned)
    halves = packed.contiguous().view(torch.uint8)
    pairs = torch.stack((halves & _NIBBLE, halves >> PACKED_BITS), dim=-1)
    found = pairs.view(torch.int8).view(packed.shape[0], -1)[:, :count] - _ZERO
    return found.transpose(0, 1) if turned else found


def _scaled(weight: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    whole = weight.to(scale.dtype)
    if zero is not None:
        whole = whole - zero.to(scale.dtype)
    return whole * scale


def _wider(scale: Tensor, zero: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Scales and zeros with a dimension for the members of a group."""
    return scale.unsqueeze(-1), None if zero is None else zero.unsqueeze(-1)


def grouped(
    weight: Tensor, scale: Tensor, zero: Tensor | None, group: int, whole: Tensor | None = None
) -> Tensor:
    """A whole weight whose groups have scales, beside the scale of the whole."""
    parts = weight.unflatten(-1, (-1, group))
    wide, zero = _wider(scale, zero)
    wide = wide if whole is None else wide / whole
    return _scaled(parts, wide, zero).flatten(start_dim=-2).to(scale.dtype)


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


def _measured(
    x: Tensor, how: Rounding, low: Tensor, high: Tensor, whole: Tensor | None
) -> tuple[Tensor, Tensor]:
    """A scale and a zero for what is measured together, beside the scale of the whole."""
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
    least_scale = torch.finfo(scale.dtype).eps
    if whole is not None:
        scale = whole * scale
    if how.scale is not None:
        info, least_scale = torch.finfo(how.scale), _LEAST_SCALE
        scale = torch.clamp(scale, info.min, info.max).to(how.scale).to(scale.dtype)
    tiny = torch.tensor(least_scale, dtype=scale.dtype, device=scale.device)
    scale = torch.where(scale == 0, tiny, scale)
    ends = torch.finfo(_FLOAT8) if how.floating else torch.iinfo(torch.int8)
    zero = torch.clamp(zero, ends.min, ends.max)
    zero = (zero if how.floating else torch.round(zero)).to(how.dtype)
    if scale.dim() == 0:
        scale, zero = scale.reshape(1), zero.reshape(1)
    return scale, zero


def _extremes(x: Tensor, how: Rounding) -> tuple[Tensor, Tensor]:
    dims: int | tuple[int, ...] = ()
    if how.strategy in _GROUPS:
        x, dims = x.unflatten(-1, (-1, how.group)), -1
    elif how.strategy == "token":
        dims = tuple(range(_MATRIX, x.dim()))
    if not dims:
        least, most = torch.aminmax(x)
        return least, most
    keep = how.strategy not in _GROUPS
    return torch.amin(x, dim=dims, keepdim=keep), torch.amax(x, dim=dims, keepdim=keep)


def _there_and_back(
    x: Tensor, scale: Tensor, zero: Tensor | None, how: Rounding, ends: tuple[Tensor, Tensor]
) -> Tensor:
    small = x / scale
    if zero is not None:
        small += zero.to(x.dtype)
    small = torch.clamp(small, *ends)
    if how.floating and how.bits == PACKED_BITS:
        rounded: Tensor = torch.ops.compressed_tensors.cast_to_fp4(small)
    else:
        rounded = small.to(_FLOAT8) if how.floating else torch.round(small)
    return _scaled(rounded.to(small.dtype), scale, zero)


def kept(tensor: Tensor) -> nn.Parameter:
    """A parameter that is not trained."""
    return nn.Parameter(tensor, False)
