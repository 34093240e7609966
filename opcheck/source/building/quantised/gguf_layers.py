"""Linear layers whose weights are blocks of GGUF, which diffusers dequantises in each call.

``GGUFLinear`` of diffusers 0.42, quantizers/gguf/utils.py line 595, and ``dequantize_gguf_tensor``,
line 526, with its functions for each type: by PyTorch's own operators, on every device. Kernels of
the Hub (``Isotr0py/ggml``) take their place on CUDA where ``DIFFUSERS_GGUF_CUDA_KERNELS`` is set.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.source.gguf_types import TENSORS, TensorType

_SUPER = 256
"""Numbers of a block that has blocks of its own."""
_SCALES = 12
"""Bytes of the scales in such a block."""
_NIBBLES, _PAIRS = (0, 4), (0, 2, 4, 6)
_IQ4 = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def _split(blocks: Tensor, *sizes: int) -> Sequence[Tensor]:
    return torch.split(blocks, [*sizes, blocks.shape[1] - sum(sizes)], dim=1)


def _half(x: Tensor) -> Tensor:
    return x.view(torch.float16)


def _shifted(x: Tensor, shape: Sequence[int], shifts: Sequence[int], place: int = 2) -> Tensor:
    """Each byte moved right by each of ``shifts``, which go along the dimension ``place``."""
    shaped = x.reshape(shape)
    sizes = [len(shifts) if place == dim else 1 for dim in range(len(shape))]
    return shaped >> torch.tensor(shifts, device=x.device, dtype=torch.uint8).reshape(sizes)


def _words(x: Tensor) -> Tensor:
    """Four bytes as an integer (``to_uint32``)."""
    x = x.view(torch.uint8).to(torch.int32)
    return (x[:, 0] | x[:, 1] << 8 | x[:, 2] << 16 | x[:, 3] << 24).unsqueeze(1)


def _fifth_bits(x: Tensor, count: int) -> Tensor:
    x = x.reshape(count, 1)
    return x >> torch.arange(32, device=x.device, dtype=torch.int32).reshape(1, 32)


def _eighths(x: Tensor, count: int) -> Tensor:
    """Each byte moved right by none to seven bits."""
    x = x.reshape((count, -1, 1, 32))
    return x >> torch.arange(0, 8, device=x.device, dtype=torch.uint8).reshape((1, 1, 8, 1))


def _scale_min(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Scales and what is taken off, six bits each (``get_scale_min``)."""
    x = x.view(torch.uint8).reshape((count, 3, 4))
    d, m, rest = torch.split(x, 1, dim=-2)
    scales = torch.cat([d & 0x3F, (rest & 0x0F) | ((d >> 2) & 0x30)], dim=-1)
    least = torch.cat([m & 0x3F, (rest >> 4) | ((m >> 2) & 0x30)], dim=-1)
    return scales.reshape((count, 8)), least.reshape((count, 8))


def _bf16(x: Tensor) -> Tensor:
    return (x.view(torch.int16).to(torch.int32) << 16).view(torch.float32)


def _q8_0(x: Tensor) -> Tensor:
    d, qs = _split(x, 2)
    return _half(d) * qs.view(torch.int8)


def _q4_0(x: Tensor) -> Tensor:
    count = x.shape[0]
    d, qs = _split(x, 2)
    d = _half(d)
    low = _shifted(qs, (count, -1, 1, 16), _NIBBLES)
    return d * ((low & 0x0F).reshape((count, -1)).to(torch.int8) - 8)


def _q4_1(x: Tensor) -> Tensor:
    count = x.shape[0]
    d, m, qs = _split(x, 2, 2)
    d, m = _half(d), _half(m)
    low = _shifted(qs, (count, -1, 1, 16), _NIBBLES)
    return (d * (low & 0x0F).reshape(count, -1)) + m


def _fives(high: Tensor, qs: Tensor, count: int) -> Tensor:
    high = _fifth_bits(_words(high), count)
    low = _shifted(qs, (count, -1, 1, 16), _NIBBLES)
    high = (high & 1).to(torch.uint8)
    low = (low & 0x0F).reshape((count, -1))
    return low | (high << 4)


def _q5_0(x: Tensor) -> Tensor:
    d, high, qs = _split(x, 2, 4)
    d = _half(d)
    return d * (_fives(high, qs, x.shape[0]).to(torch.int8) - 16)


def _q5_1(x: Tensor) -> Tensor:
    d, m, high, qs = _split(x, 2, 2, 4)
    d, m = _half(d), _half(m)
    return (d * _fives(high, qs, x.shape[0])) + m


def _q2_k(x: Tensor) -> Tensor:
    count = x.shape[0]
    scales, qs, d, least = _split(x, _SUPER // 16, _SUPER // 4, 2)
    d, least = _half(d), _half(least)
    dl = (d * (scales & 0xF)).reshape((count, _SUPER // 16, 1))
    ml = (least * (scales >> 4)).reshape((count, _SUPER // 16, 1))
    shift = torch.tensor(_PAIRS, device=d.device, dtype=torch.uint8).reshape((1, 1, 4, 1))
    low = (qs.reshape((count, -1, 1, 32)) >> shift) & 3
    return (dl * low.reshape((count, _SUPER // 16, 16)) - ml).reshape((count, -1))


def _q3_k(x: Tensor) -> Tensor:
    count, groups = x.shape[0], _SUPER // 16
    mask, qs, scales, d = _split(x, _SUPER // 8, _SUPER // 4, _SCALES)
    d = _half(d)
    low, high = scales[:, :8], scales[:, 8:]
    low = _shifted(low, (count, 1, 8), _NIBBLES, place=1).reshape((count, 16))
    high = _shifted(high, (count, 1, 4), _PAIRS, place=1).reshape((count, 16))
    scales = ((low & 0x0F) | ((high & 0x03) << 4)).to(torch.int8) - 32
    dl = (d * scales).reshape((count, 16, 1))
    ql = _shifted(qs, (count, -1, 1, 32), _PAIRS)
    qh = _eighths(mask, count)
    ql = ql.reshape((count, 16, groups)) & 3
    qh = (qh.reshape((count, 16, groups)) & 1) ^ 1
    return (dl * (ql.to(torch.int8) - (qh << 2).to(torch.int8))).reshape((count, _SUPER))


def _k_scales(d: Tensor, least: Tensor, scales: Tensor, count: int) -> tuple[Tensor, Tensor]:
    own, taken = _scale_min(scales, count)
    return (d * own).reshape((count, -1, 1)), (least * taken).reshape((count, -1, 1))


def _q4_k(x: Tensor) -> Tensor:
    count = x.shape[0]
    d, least, scales, qs = _split(x, 2, 2, _SCALES)
    d, dm = _k_scales(_half(d), _half(least), scales, count)
    low = _shifted(qs, (count, -1, 1, 32), _NIBBLES)
    return (d * (low & 0x0F).reshape((count, -1, 32)) - dm).reshape((count, _SUPER))


def _q5_k(x: Tensor) -> Tensor:
    count = x.shape[0]
    d, least, scales, high, qs = _split(x, 2, 2, _SCALES, _SUPER // 8)
    d, dm = _k_scales(_half(d), _half(least), scales, count)
    ql = _shifted(qs, (count, -1, 1, 32), _NIBBLES)
    qh = _eighths(high, count)
    ql = (ql & 0x0F).reshape((count, -1, 32))
    qh = (qh & 0x01).reshape((count, -1, 32))
    return (d * (ql | (qh << 4)) - dm).reshape((count, _SUPER))


def _q6_k(x: Tensor) -> Tensor:
    count, groups = x.shape[0], _SUPER // 16
    ql, qh, scales, d = _split(x, _SUPER // 2, _SUPER // 4, groups)
    scales, d = scales.view(torch.int8), _half(d)
    d = (d * scales).reshape((count, groups, 1))
    ql = _shifted(ql, (count, -1, 1, 64), _NIBBLES)
    ql = (ql & 0x0F).reshape((count, -1, 32))
    qh = _shifted(qh, (count, -1, 1, 32), _PAIRS)
    qh = (qh & 0x03).reshape((count, -1, 32))
    q = (ql | (qh << 4)).to(torch.int8) - 32
    return (d * q.reshape((count, groups, -1))).reshape((count, _SUPER))


def _table(x: Tensor) -> Tensor:
    return torch.tensor(_IQ4, dtype=torch.float32, device=x.device)


def _looked_up(table: Tensor, places: Tensor) -> Tensor:
    """The number of the table for each place."""
    table = table.view(*[1] * places.dim(), len(_IQ4))
    places = places.unsqueeze(-1)
    found = torch.gather(table.expand(*places.shape[:-1], len(_IQ4)), places.dim() - 1, places)
    return found.squeeze(-1)


def _iq4_nl(x: Tensor) -> Tensor:
    count, table = x.shape[0], _table(x)
    d, qs = _split(x, 2)
    d = _half(d)
    places = (_shifted(qs, (count, -1, 1, 16), _NIBBLES) & 15).reshape((count, -1))
    return d * _looked_up(table, places.to(torch.int64))


def _iq4_xs(x: Tensor) -> Tensor:
    count, table = x.shape[0], _table(x)
    d, high, low, qs = _split(x, 2, 2, _SUPER // 64)
    d = _half(d)
    high = high.view(torch.int16)
    low = _shifted(low, (count, -1, 1), _NIBBLES)
    high = _shifted(high, (count, 1, -1), tuple(range(0, _SUPER // 16, 2)), place=1)
    low = low.reshape((count, -1)) & 0x0F
    high = high.reshape((count, -1)) & 0x03
    dl = (d * ((low | (high << 4)) - 32)).reshape((count, -1, 1))
    shifts = torch.tensor(_NIBBLES, device=d.device, dtype=torch.uint8).reshape(1, 1, 2, 1)
    qs = qs.reshape((count, -1, 1, 16)) >> shifts
    places = (qs & 15).reshape((count, -1, 32)).to(torch.int64)
    return (dl * _looked_up(table, places)).reshape(count, -1)


BLOCKS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "BF16": _bf16, "IQ4_NL": _iq4_nl, "IQ4_XS": _iq4_xs, "Q2_K": _q2_k, "Q3_K": _q3_k,
    "Q4_0": _q4_0, "Q4_1": _q4_1, "Q4_K": _q4_k, "Q5_0": _q5_0, "Q5_1": _q5_1, "Q5_K": _q5_k,
    "Q6_K": _q6_k, "Q8_0": _q8_0,
}  # fmt: skip
"""Name of a type -> what makes numbers of its blocks, one a row."""


def bytes_of(columns: int, kind: TensorType) -> int:
    """How many bytes a row of so many numbers has."""
    return columns // kind.block * kind.size


def dequantised(weight: Tensor, kind: TensorType) -> Tensor:
    """The numbers of a weight, in the dtype of its scales, or in float32."""
    weight = weight.view(torch.uint8)
    shape = (*weight.shape[:-1], weight.shape[-1] // kind.size * kind.block)
    blocks = weight.reshape((weight.numel() // kind.size, kind.size))
    return BLOCKS[kind.name](blocks).reshape(shape)


class GGUFLinear(nn.Linear):
    """A linear layer with a weight of bytes."""

    def __init__(self, linear: nn.Linear, kind: int, dtype: torch.dtype) -> None:
        rows, columns, bias = linear.out_features, linear.in_features, linear.bias is not None
        super().__init__(columns, rows, bias, device="meta", dtype=dtype)
        self.kind, self.compute_dtype = TENSORS[kind], dtype
        made = torch.empty(rows, bytes_of(columns, self.kind), dtype=torch.uint8)
        self.weight = nn.Parameter(made, False)
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Make the weight whole, and multiply (``forward_native``)."""
        weight = dequantised(self.weight, self.kind).to(self.compute_dtype)
        bias = None if self.bias is None else self.bias.to(self.compute_dtype)
        return functional.linear(x, weight, bias)
