"""GPTQ weights of three bits: 32 of them in three words, which GPTQModel 7.3.4 unpacks by PyTorch.

No kernel of the library's takes them (``SUPPORTS_BITS`` of nn_modules/qlinear/*.py), so that every
device has TorchLinear, nn_modules/qlinear/torch.py line 114. The unpacking: ``dequantize_weight``,
nn_modules/qlinear/__init__.py line 976. On Ascend it divides where it shifts elsewhere.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence

_BLOCK, _WORDS, _EACH = 32, 3, 12
"""Weights that share words, how many words, and the shifts of each."""
Shift = Callable[[Tensor, Any], Tensor]
"""What shifts the bits of integers."""
SHIFTS = (
    (0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0),
    (0, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31),
    (0, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0),
)
_LOW = 0x7
"""Three bits."""
_SPLIT = ((0, 10, 0x3, 2, 0x4), (1, 11, 0x1, 1, 0x6))
"""Weights that are split between two words: where, which bits, and those of the next word."""


def _right(values: Tensor, shifts: Tensor) -> Tensor:
    if values.device.type != "npu":
        return torch.bitwise_right_shift(values, shifts)
    wide = shifts.to(torch.int64)
    powers = torch.pow(torch.full_like(wide, 2), wide)
    return torch.floor_divide(values.to(torch.int64), powers).to(values.dtype)


def _left(values: Tensor, by: int) -> Tensor:
    if values.device.type != "npu":
        return torch.bitwise_left_shift(values, by)
    return (values.to(torch.int64) * (1 << by)).to(values.dtype)


def zeros_of(
    packed: Tensor, shifts: Tensor, scales: Tensor, right: Shift = _right, left: Shift = _left
) -> Tensor:
    """Zeros of each group, along the features that go out."""
    rows, words = packed.shape
    found = packed.reshape(rows, words // _WORDS, _WORDS, 1).expand(-1, -1, -1, _EACH)
    found = right(found, shifts.view(1, 1, _WORDS, _EACH))
    for word, place, own, by, rest in _SPLIT:
        whole = (found[:, :, word, place] & own) | (left(found[:, :, word + 1, 0], by) & rest)
        found[:, :, word, place] = whole
    found = found & _LOW
    parts = found[:, :, 0, :11], found[:, :, 1, 1:12], found[:, :, 2, 1:11]
    return torch.cat(parts, dim=2).reshape(scales.shape)


def weights_of(
    packed: Tensor, shifts: Tensor, right: Shift = _right, left: Shift = _left
) -> Tensor:
    """Weights, along the features that come in."""
    words, columns = packed.shape
    found = packed.reshape(words // _WORDS, _WORDS, 1, columns).expand(-1, -1, _EACH, -1)
    found = right(found, shifts.view(1, _WORDS, _EACH, 1)) & _LOW
    for word, place, own, by, rest in _SPLIT:
        found[:, word, place] = (found[:, word, place] & own) | (
            left(found[:, word + 1, 0], by) & rest
        )
    found = found & _LOW
    found = torch.cat((found[:, 0, :11], found[:, 1, 1:12], found[:, 2, 1:11]), dim=1)
    return found.reshape(found.shape[0] * found.shape[1], found.shape[2])


def three_bit_linear(
    x: Tensor,
    qweight: Tensor,
    qzeros: Tensor,
    scales: Tensor,
    g_idx: Tensor,
    shifts: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """What runs on every device: weights by the group that each row is of, then the product."""
    zeros, weight = zeros_of(qzeros, shifts, scales), weights_of(qweight, shifts)
    whole = scales[g_idx.long()] * (weight - zeros[g_idx.long()])
    if whole.dtype != x.dtype:
        whole = whole.to(x.dtype)
    out = torch.matmul(x, whole)
    if bias is not None:
        out.add_(bias if bias.dtype == out.dtype else bias.to(out.dtype))
    return out


class ThreeBitLinear(nn.Module):
    """Weights of three bits, packed along the features that come in, each row of one group."""

    def __init__(self, rows: int, columns: int, bias: Any, group_size: int) -> None:
        super().__init__()
        for features in (rows, columns):
            if features % _BLOCK:
                raise SourceError(
                    Sentence(
                        "a layer of {rows} by {columns} features has three bits a weight, which "
                        "are packed for {figure} features at a time",
                        rows=rows, columns=columns, figure=_BLOCK,
                    )
                )  # fmt: skip
        self.out_features = rows
        groups = -(-columns // (columns if group_size == -1 else group_size))
        packed = columns // _BLOCK * _WORDS, rows
        self.register_buffer("qweight", torch.zeros(packed, dtype=torch.int32))
        zeros = groups, rows // _BLOCK * _WORDS
        self.register_buffer("qzeros", torch.zeros(zeros, dtype=torch.int32))
        self.register_buffer("scales", torch.zeros(groups, rows, dtype=torch.float16))
        self.register_buffer("g_idx", torch.zeros(columns, dtype=torch.int32))
        made = None if bias is None else torch.zeros(rows, dtype=torch.float16)
        self.register_buffer("bias", made)
        shifts = torch.tensor(SHIFTS, dtype=torch.int32)
        self.register_buffer("shifts", shifts, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        out: Tensor = torch.ops.gptqmodel.gptq_three_bit_linear(
            x.reshape(-1, x.shape[-1]), self.qweight, self.qzeros, self.scales, self.g_idx,
            self.shifts, self.bias,
        )  # fmt: skip
        return out.reshape(*x.shape[:-1], self.out_features)
