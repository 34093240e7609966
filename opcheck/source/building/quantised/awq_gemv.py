"""AWQ's layouts for one row at a time, GEMV and two faster ones, as GPTQModel 7.3.4 has them.

AwqGEMVLinear (nn_modules/qlinear/gemv_awq.py line 21), AwqGEMVFastLinear (gemv_fast_awq.py line 65)
and LLMAwqLinear (line 289): kernels of CUDA's and ROCm's that compute in float16. Zeros are as wide
as ``calculate_zeros_width`` makes them, utils/gemv.py line 9.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence

_ops = torch.ops.gptqmodel
_PACKED, _HALF_PACKED = 8, 4
"""Weights of four bits in an integer of 32 and of 16."""
_INTERLEAVED = 4
_WIDER = {32: 4, 64: 2}
_WIDE = 128


class AWQGemvLinear(nn.Module):
    """Weights packed along the features that come in, each row with its scales."""

    def __init__(self, rows: int, columns: int, bias: Any, group_size: int) -> None:
        super().__init__()
        if bias is not None:
            raise SourceError(
                Sentence(
                    "a layer has a bias, and GPTQModel 7.3.4 makes no layer of the layout gemv "
                    "with one (KeyError: attribute 'bias' already exists)"
                )
            )
        self.out_features = rows
        self.group = columns if group_size == -1 else group_size
        width = _width(columns, self.group)
        packed = rows, columns // _PACKED
        self.register_buffer("qweight", torch.zeros(packed, dtype=torch.int32))
        self.register_buffer("qzeros", torch.zeros(rows, width, dtype=torch.int32))
        self.register_buffer("scales", torch.zeros(rows, width * _PACKED, dtype=torch.float16))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x`` in float16."""
        rows = x.reshape(-1, x.shape[-1])
        given = rows.dtype
        rows = rows if given == torch.float16 else rows.half()
        out: Tensor = _ops.awq_gemv_linear(rows, self.qweight, self.qzeros, self.scales, self.group)
        out = out if given == torch.float16 else out.to(given)
        return out.reshape(*x.shape[:-1], self.out_features)


class AWQGemvFastLinear(nn.Module):
    """Weights of four rows in turn, with zeros that are multiplied by their scales before."""

    zeros: ClassVar[str] = "qzeros"

    def __init__(self, rows: int, columns: int, bias: Any, group_size: int) -> None:
        super().__init__()
        self.out_features = rows
        self.group = columns if group_size == -1 else group_size
        packed = rows // _INTERLEAVED, columns // _HALF_PACKED * _INTERLEAVED
        self.register_buffer("qweight", torch.zeros(packed, dtype=torch.int16))
        scales = _width(columns, self.group) * _PACKED, rows
        self.register_buffer(self.zeros, torch.zeros(scales, dtype=torch.float16))
        self.register_buffer("scales", torch.zeros(scales, dtype=torch.float16))
        made = None if bias is None else torch.zeros(rows, dtype=torch.float16)
        self.register_buffer("bias", made)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by ``x`` in float16."""
        given = x.dtype
        x = x if given == torch.float16 else x.to(torch.float16)
        out: Tensor = _ops.awq_gemv_fast_linear(
            x.contiguous(), self.qweight, self.scales, getattr(self, self.zeros),
            self.out_features, self.group,
        )  # fmt: skip
        out = out if given == torch.float16 else out.to(given)
        bias: Any = self.bias
        return out if bias is None else out + bias


class LLMAWQLinear(AWQGemvFastLinear):
    """The same with another name for its zeros."""

    zeros = "scaled_zeros"


LAYERS: Mapping[str, type[AWQGemvLinear | AWQGemvFastLinear]] = {
    "gemv": AWQGemvLinear,
    "gemv_fast": AWQGemvFastLinear,
    "llm-awq": LLMAWQLinear,
}
"""Layout -> its layer."""


def _width(columns: int, group: int) -> int:
    """How many words the zeros of a row take."""
    if group < _WIDE and group not in _WIDER:
        raise SourceError(
            Sentence(
                "group_size is {text_value}, want 32, 64, or 128 and more for this layout of AWQ",
                text_value=group,
            )
        )
    words = -(-(columns // group) // _PACKED)
    times = _WIDER.get(group, 1)
    return -(-words // times) * times
