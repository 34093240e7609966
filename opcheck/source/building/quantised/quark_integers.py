"""Quark: weights of four- and eight-bit integers, made whole in each call by PyTorch's operators.

``Pack_4_bits`` and ``Pack_8_bits``, quark/torch/utils/pack.py lines 326 and 426 of AMD Quark 0.13;
``StaticScaledRealQuantizer``, export/nn/modules/realquantizer.py line 149; ``dequantize_int``,
kernel/hw_emulation/hw_emulation_interface.py line 1808, which is registered for every device.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

_WORD = 8
"""Numbers of four bits in a word."""
_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
_SHIFTS = (0, 4, 8, 12, 16, 20, 24, 28)
_NEGATIVE, _SIGN = 0x08, 0xF0
_KINDS = ("int4", "uint4", "int8")
_USUAL = {"is_dynamic": False, "is_scale_quant": False, "scale_format": None}
_POINT = "int32"


class Integers(NamedTuple):
    """How the weight of a layer is packed."""

    kind: str
    group: int
    """Weights of a row that share a scale; 0: all of them."""
    reorder: bool
    """Whether numbers of a word are not in their order."""

    @property
    def four(self) -> bool:
        """Whether there are eight of them in a word."""
        return self.kind != "int8"

    def takes(self, rows: int, columns: int) -> bool:
        """Whether a layer of such sizes has no word or group in part."""
        size = self.group or columns
        across = rows if self.group else columns
        return columns % size == 0 and not (self.four and (across % _WORD or rows % _WORD))


def integers_of(weight: Any, *, reorder: bool) -> Integers | None:
    """The settings of a weight; None where they are others than these."""
    if not isinstance(weight, Mapping) or weight.get("dtype") not in _KINDS:
        return None
    if any((weight.get(name) or default) != default for name, default in _USUAL.items()):
        return None
    if (weight.get("zero_point_type") or _POINT) != _POINT:
        return None
    size, axis = weight.get("group_size"), weight.get("ch_axis")
    match weight.get("qscheme"):
        case "per_channel" if axis == 0:
            return Integers(weight["dtype"], 0, reorder)
        case "per_group" if axis in (1, -1) and isinstance(size, int) and size > 0:
            return Integers(weight["dtype"], size, reorder)
    return None


class _Quantizer(nn.Module):
    """Scales and zero points, under the names that the library keeps them by."""

    scale: Tensor
    zero_point: Tensor

    def __init__(self, rows: int, columns: int, how: Integers) -> None:
        super().__init__()
        shape = (columns // how.group, rows) if how.group else (rows,)
        packed = (*shape[:-1], rows // _WORD if how.four else rows)
        dtype = torch.int32 if how.four else torch.int8
        self.register_buffer("scale", torch.ones(shape))
        self.register_buffer("zero_point", torch.zeros(packed, dtype=dtype))


class QuarkIntegerLinear(nn.Module):
    """A layer whose weight lies by rows, or by columns where groups share a scale."""

    def __init__(self, rows: int, columns: int, bias: Any, how: Integers) -> None:
        super().__init__()
        self.how = how
        across, along = (columns, rows) if how.group else (rows, columns)
        shape = (across, along // _WORD if how.four else along)
        made = torch.empty(shape, dtype=torch.int32 if how.four else torch.int8)
        self.weight = nn.Parameter(made, False)
        self.bias = None if bias is None else nn.Parameter(torch.empty(rows), False)
        self.weight_quantizer = _Quantizer(rows, columns, how)

    def forward(self, x: Tensor) -> Tensor:
        """Make the weight whole, and multiply."""
        weight = self._whole().to(x.dtype)
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return functional.linear(x, weight, bias)

    def _whole(self) -> Tensor:
        held = self.weight_quantizer
        weight = self._unpacked(self.weight.data)
        point = self._unpacked(held.zero_point)
        if not self.how.group:
            turned = weight.transpose(0, -1).to(torch.float)
            return ((turned - point) * held.scale).transpose(-1, 0).contiguous()
        scale = held.scale.data.t().contiguous()
        groups = scale.shape[1]
        weight = weight.transpose(1, -1)
        grouped = weight.reshape(-1, groups, weight.shape[-1] // groups)
        scale, point = _over(scale, groups), _over(point, groups)
        made = (grouped.to(torch.float) - point) * scale
        return made.reshape(weight.shape).transpose(-1, 1).contiguous()

    def _unpacked(self, x: Tensor) -> Tensor:
        if not self.how.four:
            return self._turned(x).to(torch.int32).contiguous()
        shifts = torch.tensor(_SHIFTS, device=x.device)
        alone = x.ndim == 1
        rows = x.unsqueeze(0) if alone else x
        made = (rows.unsqueeze(-1) >> shifts.view(1, 1, -1)).view(rows.shape[0], -1).to(torch.int8)
        if self.how.reorder:
            order = torch.arange(made.shape[-1], dtype=torch.int32, device=x.device).view(-1, _WORD)
            made = made[:, order[:, list(_ORDER)].view(-1)]
        made &= 0b1111
        if self.how.kind == "int4":
            negative = (made & _NEGATIVE).bool()
            made[negative] = made[negative] | _SIGN
        return self._turned(made.squeeze(0) if alone else made)

    def _turned(self, x: Tensor) -> Tensor:
        return x.t().contiguous() if self.how.group else x


def _over(x: Tensor, groups: int) -> Tensor:
    return x.transpose(1, -1).reshape(-1, groups).to(torch.float).unsqueeze(-1)
