"""auto-round 0.16.1's layers for weights of integers, and what they run by PyTorch alone.

QuantLinear of auto_round_extension/torch/qlinear_torch.py (line 111) and qlinear_torch_zp.py, whose
zeros are one less. The Triton kernel that it takes on CUDA and XPU multiplies the same buffers:
auto_round_extension/triton/qlinear_tritonv2.py line 55. AWQ's layout is GPTQModel's layer there:
``_create_quant_layer``, auto_round/inference/convert_model.py line 510.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.source.building.quantised.gptqmodel_layers import AWQLinear, awq_linear
from opcheck.source.building.quantised.gptqmodel_three_bits import (
    SHIFTS,
    weights_of,
    zeros_of,
)

_ops = torch.ops.auto_round
_WORD = 32
_THREE, _EIGHT = 3, 8


def _by_words(qweight: Tensor, qzeros: Tensor, scales: Tensor, shifts: Tensor, bits: int) -> Any:
    """Zeros and weights of as many bits as divide a word."""
    count, most = _WORD // bits, 2**bits - 1
    dtype = torch.int16 if bits == _EIGHT else torch.int8
    zeros = torch.bitwise_right_shift(
        qzeros.unsqueeze(2).expand(-1, -1, count), shifts.view(1, 1, count)
    ).to(dtype)
    zeros = torch.bitwise_and(zeros, most).reshape(scales.shape)
    weight = torch.bitwise_right_shift(
        qweight.unsqueeze(1).expand(-1, count, -1), shifts.view(1, count, 1)
    ).to(dtype)
    weight = torch.bitwise_and(weight, most)
    return zeros, weight.reshape(weight.shape[0] * weight.shape[1], weight.shape[2])


def _by_three(qweight: Tensor, qzeros: Tensor, scales: Tensor, shifts: Tensor) -> Any:
    """Zeros and weights of three bits, by the shifts of Python."""
    right, left = torch.Tensor.__rshift__, torch.Tensor.__lshift__
    zeros = zeros_of(qzeros, shifts, scales, right, left)
    return zeros, weights_of(qweight, shifts, right, left)


def _product(
    x: Tensor, found: tuple[Tensor, Tensor], scales: Tensor, group: int, *, one_less: bool
) -> Tensor:
    zeros, weight = found
    if one_less:
        zeros += 1
    whole = scales.repeat_interleave(group, dim=0) * (
        weight - zeros.repeat_interleave(group, dim=0)
    )
    return torch.matmul(x, whole.to(x.dtype)).to(x.dtype)


def _linear(
    x: Tensor,
    qweight: Tensor,
    qzeros: Tensor,
    scales: Tensor,
    shifts: Tensor,
    bits: int,
    group_size: int,
    one_less: bool,
) -> Tensor:
    found = _by_words(qweight, qzeros, scales, shifts, bits)
    return _product(x, found, scales, group_size, one_less=one_less)


def _three_bit_linear(
    x: Tensor,
    qweight: Tensor,
    qzeros: Tensor,
    scales: Tensor,
    shifts: Tensor,
    group_size: int,
    one_less: bool,
) -> Tensor:
    found = _by_three(qweight, qzeros, scales, shifts)
    return _product(x, found, scales, group_size, one_less=one_less)


KERNELS: Mapping[str, Callable[..., Any]] = {
    "auto_round::awq_linear": awq_linear,
    "auto_round::linear": _linear,
    "auto_round::three_bit_linear": _three_bit_linear,
}
"""Operator -> what runs where a model was loaded on the CPU."""


class AutoRoundLinear(nn.Module):
    """Weights of a few bits, packed along the features that come in."""

    def __init__(
        self, rows: int, columns: int, bias: Any, bits: int, group_size: int, *, one_less: bool
    ) -> None:
        super().__init__()
        self.bits, self.out_features, self.one_less = bits, rows, one_less
        self.group = columns if group_size == -1 else group_size
        groups = -(-columns // self.group)
        packed = columns // _WORD * bits, rows
        self.register_buffer("qweight", torch.zeros(packed, dtype=torch.int32))
        zeros = groups, rows // _WORD * bits
        self.register_buffer("qzeros", torch.zeros(zeros, dtype=torch.int32))
        self.register_buffer("scales", torch.zeros(groups, rows, dtype=torch.float16))
        made = None if bias is None else torch.zeros(rows, dtype=torch.float16)
        self.register_buffer("bias", made)
        found = SHIFTS if bits == _THREE else range(0, _WORD, bits)
        shifts = torch.tensor(list(found), dtype=torch.int32)
        self.register_buffer("shifts", shifts, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        rows = x.reshape(-1, x.shape[-1])
        held: Any = (rows, self.qweight, self.qzeros, self.scales, self.shifts)
        how = (self.group, self.one_less)
        out: Tensor
        if self.bits == _THREE:
            out = _ops.three_bit_linear(*held, *how)
        else:
            out = _ops.linear(*held, self.bits, *how)
        out = out.reshape(*x.shape[:-1], self.out_features)
        bias: Any = self.bias
        return out if bias is None else (out + bias).to(x.dtype)


class AutoRoundAWQLinear(AWQLinear):
    """GPTQModel's layer, with the kernel that auto-round takes."""

    def multiply(self, x: Tensor) -> Tensor:
        """Multiply a matrix."""
        out: Tensor = _ops.awq_linear(
            x, self.qweight, self.qzeros, self.scales, self.bits, self.group, self.bias
        )
        return out
