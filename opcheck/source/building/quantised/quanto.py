"""Quanto: weights of eight, four and two bits, whose kernels are chosen by device, dtype and size.

``QLinear`` of optimum-quanto 0.2.7 at commit 089d86ef7954996440ca770b678be353d7a7d6cd,
optimum/quanto/nn/qlinear.py line 27, with frozen weights: WeightQBytesTensor (tensor/weights/
qbytes.py line 85) and WeightQBitsTensor (tensor/weights/qbits.py line 65). Which layers it takes
the place of: ``replace_with_quanto_layers`` of transformers 5.23, integrations/quanto.py line 62.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, one_of

_ops = torch.ops.quanto
_WEIGHTS = ("float8", "int8", "int4", "int2")
_PACKED = {"float8": torch.float8_e4m3fn, "int8": torch.int8}
_BITS = {"int4": 4, "int2": 2}
_GROUP, _LESS, _LEAST = 128, 32, 32
"""Weights that share a scale: as many as divide the features, in these steps, down to the last."""
_HALVES = (torch.float16, torch.bfloat16)
_ROWS = 128
"""Features that go out, from which on the kernel of AWQ is taken."""


def _unpack(self: Tensor, bits: int) -> Tensor:
    """library/unpack.py line 22: the numbers of each byte, the lowest bits first."""
    found = []
    for place in range(0, 8, bits):
        part = self & (2 ** (place + bits) - 1)
        found.append(part // 2**place if part.device.type == "mps" else part >> place)
    return torch.cat(found)


def _by_bytes(x: Tensor, weight: Tensor, scale: Tensor) -> Tensor:
    """library/qbytes_mm.py line 25, which every device takes where activations are floats."""
    if weight.dtype.is_floating_point:
        weight = weight.to(scale.dtype)
    return torch.matmul(x, (scale * weight).t())


def _by_bits(
    x: Tensor, data: Tensor, scale: Tensor, shift: Tensor, bits: int, shape: Sequence[int]
) -> Tensor:
    """tensor/qbits.py line 29 and tensor/function.py line 42: the weights are made whole."""
    whole = scale * _ops.unpack(data, bits)[: scale.shape[0]]
    whole -= shift
    if list(whole.shape) != list(shape):
        whole = whole.reshape(shape)
    return torch.matmul(x, whole.t())


def _awq(
    input: Tensor,
    other: Tensor,
    other_scale: Tensor,
    other_shift: Tensor,
    rows: int,
    out_cols: int,
    in_cols: int,
    bits: int,
    group_size: int,
) -> Tensor:
    return _by_bits(input, other, other_scale, other_shift, bits, (out_cols, in_cols))


def _tinygemm(
    x: Tensor, data: Tensor, scale: Tensor, shift: Tensor, shape: Sequence[int]
) -> Tensor:
    return _by_bits(x, data, scale, shift, 4, shape)


def _marlin(
    a: Tensor,
    b_q_weight: Tensor,
    b_scales: Tensor,
    workspace: Tensor,
    num_bits: int,
    size_m: int,
    size_n: int,
    size_k: int,
) -> Tensor:
    return _by_bytes(a, b_q_weight, b_scales)


class Quanto(Method):
    """Every linear layer but the last one; activations stay as they are."""

    name = "quanto"
    library = "quanto"
    whole: ClassVar[Sentence | None] = STAY
    defaults: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "quanto::gemm_f16f8_marlin": _marlin,
        "quanto::gemm_f16i4_awq": _awq,
        "quanto::tinygemm_linear": _tinygemm,
        "quanto::unpack": _unpack,
    }
    notes: tuple[str, ...] = (
        Sentence(
            "quanto compiles its own kernels when they are first called, which takes a compiler "
            "for the device"
        ),
    )

    def models(self, model: nn.Module) -> bool:
        """All but packed activations, which transformers refuses (quantizer_quanto.py line 63)."""
        one_of("weights", self.setting("weights", "int8"), _WEIGHTS)
        activations = self.setting("activations")
        if activations is not None:
            raise SourceError(
                Sentence(
                    "activations is {text_value}, and transformers quantises weights alone by "
                    "quanto",
                    text_value=activations,
                )
            )
        return True

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer with one of its two kinds of weights."""
        weights = str(self.setting("weights", "int8"))
        if weights in _BITS:
            return QBitsLinear(linear, rows, columns, _BITS[weights])
        return QBytesLinear(linear, rows, columns, _PACKED[weights])


class QBytesLinear(nn.Module):
    """Weights of eight bits with a scale for each row."""

    weight_scale: Tensor
    workspace: Tensor

    def __init__(self, linear: Any, rows: int, columns: int, packed: torch.dtype) -> None:
        super().__init__()
        dtype: torch.dtype = linear.weight.dtype
        self.weight_data = nn.Parameter(torch.empty(rows, columns, dtype=packed), False)
        self.register_buffer("weight_scale", torch.empty(rows, 1, dtype=dtype))
        self.bias = linear.bias
        self.kernel = packed.is_floating_point and dtype in _HALVES and _fits(rows, columns)
        if self.kernel:
            made = torch.zeros(rows // 64 * 16, dtype=torch.int32)
            self.register_buffer("workspace", made, persistent=False)
        _scales(self, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``, by Marlin where CUDA has it."""
        rows, columns = self.weight_data.shape
        flat = x.reshape(-1, columns)
        if self.kernel and x.device.type == "cuda":
            out: Tensor = _ops.gemm_f16f8_marlin(
                flat, self.weight_data, self.weight_scale, self.workspace, 8,
                flat.shape[0], rows, columns,
            )  # fmt: skip
            return out.reshape(*x.shape[:-1], rows)  # the library leaves the bias out
        out = _by_bytes(flat, self.weight_data, self.weight_scale).reshape(*x.shape[:-1], rows)
        return out if self.bias is None else out + self.bias


class QBitsLinear(nn.Module):
    """Weights of four or two bits with a scale and a shift for each group."""

    weight_scale: Tensor
    weight_shift: Tensor

    def __init__(self, linear: Any, rows: int, columns: int, bits: int) -> None:
        super().__init__()
        dtype: torch.dtype = linear.weight.dtype
        self.bits, self.shape, self.group = bits, [rows, columns], _group(columns)
        size = self.group or columns
        groups = rows * columns // size
        packed = torch.empty(-(-groups * bits // 8), size, dtype=torch.uint8)
        self.weight_data = nn.Parameter(packed, False)
        self.register_buffer("weight_scale", torch.empty(groups, 1, dtype=dtype))
        self.register_buffer("weight_shift", torch.empty(groups, 1, dtype=dtype))
        self.bias = linear.bias
        self.kernel = ""
        if bits == 4 and self.group == _GROUP:
            awq = dtype == torch.float16 and rows >= _ROWS
            self.kernel = "awq" if awq else "tinygemm" if dtype == torch.bfloat16 else ""
        _scales(self, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``, by a kernel of CUDA's where there is one for the dtype."""
        rows, columns = self.shape
        held = self.weight_data, self.weight_scale, self.weight_shift
        kernel = self.kernel if x.device.type == "cuda" else ""
        if kernel == "awq":
            count = x.numel() // columns
            out: Tensor = _ops.gemm_f16i4_awq(x, *held, count, rows, columns, 4, _GROUP)
        elif kernel == "tinygemm":
            out = _ops.tinygemm_linear(x.reshape(-1, columns), *held, self.shape)
            out = out.reshape(*x.shape[:-1], rows)
        else:
            out = _by_bits(x, *held, self.bits, self.shape)
        return out if self.bias is None else out + self.bias


def _scales(layer: nn.Module, dtype: torch.dtype) -> None:
    """What layers have for activations, which stay as they are."""
    layer.register_buffer("input_scale", torch.ones((), dtype=dtype))
    layer.register_buffer("output_scale", torch.ones((), dtype=dtype))


def _group(columns: int) -> int:
    """How many weights share a scale; 0: those of a row (nn/qmodule.py line 124)."""
    size = _GROUP
    if columns <= size:
        return 0
    while columns % size and size > _LEAST:
        size -= _LESS
    return 0 if columns % size else size


def _fits(rows: int, columns: int) -> bool:
    """Whether Marlin takes the sizes (tensor/weights/qbytes.py line 134)."""
    tiles = (columns % 64 == 0 and rows % 128 == 0) or (columns % 128 == 0 and rows % 64 == 0)
    return rows >= 64 and columns >= 64 and tiles
