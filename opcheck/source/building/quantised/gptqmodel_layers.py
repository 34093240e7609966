"""GPTQModel 7.3.4's layers for GPTQ and AWQ weights, and what they run by PyTorch alone.

At commit 783a0fbb9e3dcddc281a4291ec19d5fa86aec091: TorchLinear (nn_modules/qlinear/torch.py line
114), which is there for every device, AwqTorchLinear (torch_awq.py line 20), and dequantize_gemm
(quantization/awq/utils/packing_utils.py line 96). Buffers: nn_modules/qlinear/__init__.py lines 837
and 1646. On Ascend both divide where they shift elsewhere. The library compiles the unpacking with
torch.compile where that is there, and not on Ascend; here it runs as it is written.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.gptqmodel_three_bits import three_bit_linear

_ops = torch.ops.gptqmodel
WHOLE = Sentence(
    "experts whose weights the model keeps together stay floats: transformers 5.23 has GPTQModel "
    "pack linear layers alone, and begins experts at random, with a warning, where the checkpoint "
    "has packed weights of them"
)
"""As ``from_pretrained`` of a checkpoint shows that GPTQModel wrote."""
_BY_DEVICE = ("auto", "auto_trainable", "autoawq")


def chosen_by_device(backend: Any, *others: str) -> bool:
    """Whether GPTQModel takes the first kernel that says it can, and not one that is named."""
    return backend is None or str(backend).lower() in (*_BY_DEVICE, *others)


_WORD = 32
"""Bits of an integer that packed weights share."""
_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
"""Where AWQ keeps the weights of a word."""


def _shifted(values: Tensor, shifts: Tensor, dtype: torch.dtype) -> Tensor:
    if values.device.type != "npu":
        return torch.bitwise_right_shift(values, shifts).to(dtype)
    wide = shifts.to(torch.int64)
    return torch.floor_divide(
        values.to(torch.int64), torch.pow(torch.full_like(wide, 2), wide)
    ).to(dtype)  # fmt: skip


def _gptq_linear(
    x: Tensor,
    qweight: Tensor,
    qzeros: Tensor,
    scales: Tensor,
    g_idx: Tensor,
    shifts: Tensor,
    bits: int,
    bias: Tensor | None = None,
) -> Tensor:
    """torch.py lines 700 and 326: weights by the group that each row is of, then the product."""
    count, most = _WORD // bits, 2**bits - 1
    dtype = torch.int16 if bits == 8 else torch.int8
    zeros = _shifted(
        qzeros.unsqueeze(2).expand(-1, -1, count), shifts.view(1, 1, count), dtype
    )  # fmt: skip
    zeros = torch.bitwise_and(zeros, most).reshape(scales.shape)
    groups = g_idx.long()
    weight = _shifted(qweight.unsqueeze(1).expand(-1, count, -1), shifts.view(1, count, 1), dtype)
    weight = torch.bitwise_and(weight, most)
    weight = weight.reshape(weight.shape[0] * weight.shape[1], weight.shape[2])
    whole = scales[groups] * (weight - zeros[groups])
    if whole.dtype != x.dtype:
        whole = whole.to(x.dtype)
    out = torch.matmul(x, whole)
    if bias is not None:
        out.add_(bias if bias.dtype == out.dtype else bias.to(out.dtype))
    return out


def awq_linear(
    x: Tensor,
    qweight: Tensor,
    qzeros: Tensor,
    scales: Tensor,
    bits: int,
    group_size: int,
    bias: Tensor | None = None,
) -> Tensor:
    """torch_awq.py line 154: weights and zeros in their order, times the scale of their group."""
    given, most = x.dtype, 2**bits - 1
    compute = given if given in (torch.float16, torch.bfloat16) else torch.float16
    x = x.to(compute) if given != compute else x
    if scales.dtype != compute:
        scales = scales.to(compute)
    weight, zeros = _columns(qweight, bits), _columns(qzeros, bits)
    order = _counted(weight, weight.shape[-1], 1, torch.int32)
    order = order.view(-1, _WORD // bits)[:, list(_ORDER)].view(-1)
    zeros, weight = zeros[:, order], weight[:, order]
    weight, zeros = torch.bitwise_and(weight, most), torch.bitwise_and(zeros, most)
    scales = scales.repeat_interleave(group_size, dim=0)
    whole = (weight - zeros.repeat_interleave(group_size, dim=0)) * scales
    out = torch.matmul(x, whole)
    out = out if bias is None else out + bias.to(compute)
    return out.to(given) if given != compute else out


def _columns(packed: Tensor, bits: int) -> Tensor:
    """packing_utils.py line 14: the weights of each word, one after another."""
    shifts = _counted(packed, _WORD, bits, torch.int64)
    if packed.device.type == "npu":
        powers = torch.pow(torch.full_like(shifts, 2), shifts)
        found = torch.floor_divide(packed[:, :, None].to(torch.int64), powers[None, None, :])
    else:
        found = torch.bitwise_right_shift(packed[:, :, None], shifts[None, None, :])
    return found.to(torch.int8).view(packed.shape[0], -1)


def _counted(beside: Tensor, end: int, step: int, dtype: torch.dtype) -> Tensor:
    """``arange`` where a tensor is; by name a device can be told only outside of operators."""
    return torch.arange(0, end, step, out=beside.new_empty(-(-end // step), dtype=dtype))


KERNELS: Mapping[str, Callable[..., Any]] = {
    "gptqmodel::awq_linear": awq_linear,
    "gptqmodel::gptq_linear": _gptq_linear,
    "gptqmodel::gptq_three_bit_linear": three_bit_linear,
}
"""Operator -> what runs on every device."""


class GPTQLinear(nn.Module):
    """Weights of a few bits, packed along the features that come in, each row of one group."""

    def __init__(self, rows: int, columns: int, bias: Any, bits: int, group_size: int) -> None:
        super().__init__()
        self.bits, self.out_features = bits, rows
        size = columns if group_size == -1 else group_size
        groups = -(-columns // size)
        packed = -(-columns * bits // _WORD), rows
        self.register_buffer("qweight", torch.zeros(packed, dtype=torch.int32))
        zeros = groups, -(-rows * bits // _WORD)
        self.register_buffer("qzeros", torch.zeros(zeros, dtype=torch.int32))
        self.register_buffer("scales", torch.zeros(groups, rows, dtype=torch.float16))
        self.register_buffer("g_idx", torch.zeros(columns, dtype=torch.int32))
        made = None if bias is None else torch.zeros(rows, dtype=torch.float16)
        self.register_buffer("bias", made)
        shifts = torch.arange(0, _WORD, bits, dtype=torch.int32)
        self.register_buffer("shifts", shifts, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        out: Tensor = _ops.gptq_linear(
            x.reshape(-1, x.shape[-1]), self.qweight, self.qzeros, self.scales, self.g_idx,
            self.shifts, self.bits, self.bias,
        )  # fmt: skip
        return out.reshape(*x.shape[:-1], self.out_features)


class AWQLinear(nn.Module):
    """Weights of four bits, packed along the features that go out."""

    def __init__(self, rows: int, columns: int, bias: Any, bits: int, group_size: int) -> None:
        super().__init__()
        self.bits, self.out_features = bits, rows
        self.group = columns if group_size == -1 else group_size
        groups, packed = columns // self.group, rows // (_WORD // bits)
        self.register_buffer("qweight", torch.zeros(columns, packed, dtype=torch.int32))
        self.register_buffer("qzeros", torch.zeros(groups, packed, dtype=torch.int32))
        self.register_buffer("scales", torch.zeros(groups, rows, dtype=torch.float16))
        made = None if bias is None else torch.zeros(rows, dtype=torch.float16)
        self.register_buffer("bias", made)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        return self.multiply(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], self.out_features)

    def multiply(self, x: Tensor) -> Tensor:
        """Multiply a matrix."""
        out: Tensor = _ops.awq_linear(
            x, self.qweight, self.qzeros, self.scales, self.bits, self.group, self.bias
        )
        return out
