"""torchao 0.18.0's weights in linear layers: what they hold, and PyTorch's operators they call.

torchao/quantization/quantize_/workflows/: ``linear`` of int8/int8_tensor.py (line 266), of
float8/float8_tensor.py (line 278; its own ``mslk`` kernels are an option that is not there) and of
int4/int4_tile_packed_to_4d_tensor.py (line 243). Activations: ``choose_qparams_affine`` and
``_choose_scale_float8`` of quantization/quant_primitives.py (lines 1498 and 2243). The product of
int8 matrices: ``safe_int_mm``, kernel/intmm.py line 32. Weights are tensors of a class of the
library's there, and parameters here.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_EPSILON = 1.1920928955078125e-07
_LOWEST, _HIGHEST = -128, 127
_STEPS = 255.0
_ROWS = 16
"""CUDA's product of int8 matrices takes more rows than these."""
_MULTIPLE = 8
_INT_MM = ("cpu", "meta", "cuda", "xpu")
_REFUSED = ("npu", "mlu")
"""Where products of integers raise; the library then multiplies in float32."""
_EIGHTH = 8
"""Weights of four bits in an integer of 32."""
_TILE, _PADDED, _TILE_COLUMNS = 8, 1024, 128


def scale_shape(rows: int, columns: int, group: int) -> tuple[int, int]:
    """How many scales a weight has: one in all (group 0), one a row (-1), or one a group."""
    if group == 0:
        return 1, 1
    return rows, 1 if group < 0 else columns // group


class Int8Linear(nn.Module):
    """Weights of eight bits; activations become eight bits as well, or stay."""

    def __init__(
        self,
        rows: int,
        columns: int,
        bias: Any,
        *,
        group: int,
        activation: int | None,
        asymmetric: bool,
    ) -> None:
        super().__init__()
        self.group, self.activation, self.asymmetric = group, activation, asymmetric
        shape = scale_shape(rows, columns, group)
        self._weight_qdata = _kept(torch.empty(rows, columns, dtype=torch.int8))
        self._weight_scale = _kept(torch.empty(shape))
        self._weight_zero_point = _kept(torch.empty(shape, dtype=torch.int8))
        self.bias = bias

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.group, self.activation, self.asymmetric

    def forward(self, x: Tensor) -> Tensor:
        """Multiply, with the scales put in after the product where a row shares one."""
        flat: Tensor
        if self.activation is not None:
            flat = self._dynamic(x)
        elif self.group > 0:
            flat = torch.mm(x.reshape(-1, x.shape[-1]), self._whole(x.dtype).t())
        else:
            weight = self._weight_qdata.t()
            flat = torch.mm(x.reshape(-1, x.shape[-1]), weight.to(x.dtype))
            flat = flat * self._weight_scale.to(flat.dtype).flatten()
        out = flat.reshape(*x.shape[:-1], flat.shape[-1])
        if self.bias is not None:
            out += self.bias
        return out.to(x.dtype)

    def _whole(self, dtype: torch.dtype) -> Tensor:
        rows, columns = self._weight_qdata.shape
        shape = rows, columns // self.group, 1
        weight = self._weight_qdata.view(rows, -1, self.group).to(dtype, copy=True)
        weight = weight - self._weight_zero_point.view(shape).to(dtype)
        return (weight * self._weight_scale.view(shape)).view(rows, columns).to(dtype).to(dtype)

    def _dynamic(self, x: Tensor) -> Tensor:
        small, scale, zero = _to_bytes(x, rowwise=self.activation != 0, asymmetric=self.asymmetric)
        flat = small.reshape(-1, small.shape[-1])
        scales = scale.reshape(-1, 1)
        weight = self._weight_qdata.contiguous().t()
        product = _int_product(flat, weight)
        if product.device.type == "cpu":
            out = product.to(scales.dtype) * scales
        else:
            out = product * scales.expand(product.shape)
        out = out.to(x.dtype)
        if self.asymmetric:
            sums = self._weight_qdata.sum(dim=-1)
            shift = (zero.reshape(-1, 1).to(scales.dtype) * scales) * sums.to(scales.dtype)
            out = out - shift.to(x.dtype)
        return out * self._weight_scale.flatten()


def _to_bytes(x: Tensor, *, rowwise: bool, asymmetric: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Activations as integers of eight bits, with a scale and a zero for each row or for all."""
    dims = [x.dim() - 1] if rowwise else list(range(x.dim()))
    low, high = torch.amin(x, dim=dims, keepdim=True), torch.amax(x, dim=dims, keepdim=True)
    low, high = torch.min(low, torch.zeros_like(low)), torch.max(high, torch.zeros_like(high))
    if asymmetric:
        scale = torch.clamp((high - low) / _STEPS, min=_EPSILON)
        zero = torch.clamp(_LOWEST - torch.round(low / scale), _LOWEST, _HIGHEST)
    else:
        scale = torch.max(-low, high) / (_STEPS / 2)
        zero = torch.full_like(scale, 0)
        scale = torch.clamp(scale, min=_EPSILON)
    scale, zero = scale.to(torch.float32), zero.to(torch.int8)
    small = torch.clamp(torch.round(x * (1.0 / scale)) + zero, _LOWEST, _HIGHEST)
    return small.to(torch.int8), scale, zero


def _int_product(a: Tensor, b: Tensor) -> Tensor:
    """The product of int8 matrices, in float32 where the one of integers raises."""
    kind = a.device.type
    if kind == "cpu":
        return torch._int_mm(a, b)
    if a.shape[1] % _MULTIPLE or b.shape[1] % _MULTIPLE:
        return torch.matmul(a.cpu().to(torch.int32), b.cpu().to(torch.int32)).to(a.device)
    b = b.contiguous()
    if kind in _REFUSED or (kind == "cuda" and a.shape[0] <= _ROWS):
        return torch.matmul(a.to(torch.float32), b.to(torch.float32)).to(torch.int32)
    if kind in _INT_MM:
        return torch._int_mm(a, b)
    return torch.mm(a.to(torch.int32), b.to(torch.int32))


class Float8Linear(nn.Module):
    """Weights of eight-bit floats; activations become floats of eight bits as well, or stay."""

    def __init__(
        self,
        rows: int,
        columns: int,
        bias: Any,
        *,
        group: int,
        dtype: torch.dtype,
        whole: torch.dtype,
        activation: torch.dtype | None,
        fast: bool | None,
    ) -> None:
        super().__init__()
        self.group, self.whole, self.activation, self.fast = group, whole, activation, fast
        self._weight_qdata = _kept(torch.empty(rows, columns, dtype=dtype))
        self._weight_scale = _kept(torch.empty(scale_shape(rows, columns, group)))
        self.bias = bias

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.group, self.whole, self.activation, self.fast

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the scaled product, or by whole weights."""
        weight, scale = self._weight_qdata.t(), self._weight_scale.t()
        if self.activation is not None:
            return self._dynamic(x, weight, scale)
        values = weight.to(torch.float32)
        if self.group > 0:
            scale = scale.repeat_interleave(self.group, dim=0)
        out = torch.matmul(x, (values * scale).to(self.whole))
        return out if self.bias is None else out + self.bias

    def _dynamic(self, x: Tensor, weight: Tensor, scale: Tensor) -> Tensor:
        most = torch.finfo(self.activation).max  # type: ignore[arg-type]  # it is a dtype here
        dims = list(range(x.dim())) if self.group == 0 else [x.dim() - 1]
        own = (x.abs().amax(dim=dims, keepdim=True) / most).to(torch.float32)
        small = (x.to(torch.float32) / own).clamp(min=-most, max=most).to(self.activation)
        flat = small.reshape(-1, small.shape[-1])
        own = own.reshape(1, 1) if self.group == 0 else own.unsqueeze(-1).reshape(-1, 1)
        fast = x.device.type != "xpu" if self.fast is None else self.fast
        apart = x.dtype == torch.float32 and self.bias is not None
        out = torch._scaled_mm(
            flat, weight, scale_a=own, scale_b=scale, bias=None if apart else self.bias,
            out_dtype=x.dtype, use_fast_accum=fast,
        )  # fmt: skip
        out = out + self.bias if apart else out
        return out.reshape(*x.shape[:-1], weight.shape[1])


class Int4Linear(nn.Module):
    """Weights of four bits in tiles, as PyTorch's own int4 product takes them."""

    def __init__(self, rows: int, columns: int, bias: Any, *, group: int, tile: int) -> None:
        super().__init__()
        self.group, self.rows = group, rows
        tall, self.wide = -(-rows // tile) * tile, -(-columns // _PADDED) * _PADDED
        packed = tall // _TILE, self.wide // _TILE_COLUMNS, 32, 4
        self._weight_qdata = _kept(torch.empty(packed, dtype=torch.int32))
        scales = torch.empty(self.wide // group, tall, 2, dtype=torch.bfloat16)
        self._weight_scale_and_zero = _kept(scales)
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Multiply in bfloat16, with columns of zeros up to whole tiles.

        MPS has the operator, and packs its tiles in another way (Quantized.mm of PyTorch); the
        library packs for CUDA alone.
        """
        if x.device.type == "mps":
            raise NotImplementedError("torchao packs int4 tiles for CUDA, and MPS reads others")
        flat = x.reshape(-1, x.shape[-1]).to(torch.bfloat16)
        flat = functional.pad(flat, (0, self.wide - flat.shape[-1]))
        out = torch.ops.aten._weight_int4pack_mm(
            flat, self._weight_qdata, self.group, self._weight_scale_and_zero
        )
        out = out[:, : self.rows].reshape(*x.shape[:-1], self.rows)
        if self.bias is not None:
            out += self.bias.to(out.dtype)
        return out.to(x.dtype)  # type: ignore[no-any-return]  # an operator's


class Int4PlainLinear(nn.Module):
    """Weights of four bits in pairs, multiplied by a kernel of mslk's in bfloat16.

    int4/int4_tensor.py line 168.
    """

    def __init__(self, rows: int, columns: int, bias: Any, *, group: int) -> None:
        super().__init__()
        self.rows = rows
        self._weight_qdata = _kept(torch.empty(rows, columns // 2, dtype=torch.int8))
        for name in ("scale", "zero_point"):
            made = torch.empty(columns // group, rows, dtype=torch.bfloat16)
            setattr(self, f"_weight_{name}", _kept(made))
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        held: Any = (self._weight_qdata, self._weight_scale, self._weight_zero_point)
        out: Tensor = torch.ops.mslk.bf16i4bf16_rowwise(x.reshape(-1, x.shape[-1]), *held)
        out = out.reshape(*x.shape[:-1], self.rows)
        return out if self.bias is None else out + self.bias


class Int4Int32Linear(nn.Module):
    """Weights of four bits in integers of 32, for XPU and Ascend alone.

    int4/int4_plain_int32_tensor.py lines 263 and 311; it raises NotImplementedError for another
    device, which has no such product. Zeros are bytes on XPU, and on Ascend of the dtype of the
    scales; here they are the latter.
    """

    def __init__(
        self, rows: int, columns: int, bias: Any, *, group: int, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.group, self.rows = group, rows
        packed = torch.empty(rows, columns // _EIGHTH, dtype=torch.int32)
        self._weight_qdata = _kept(packed)
        for name in ("scale", "zero_point"):
            made = torch.empty(columns // group, rows, dtype=dtype)
            setattr(self, f"_weight_{name}", _kept(made))
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x`` by the device's own product of such weights."""
        flat = x.reshape(-1, x.shape[-1])
        out = self._on_npu(flat) if x.device.type == "npu" else self._on_xpu(flat)
        out = out[:, : self.rows].reshape(*x.shape[:-1], self.rows)
        if self.bias is not None and x.device.type != "npu":
            out += self.bias
        return out.to(x.dtype)

    def _on_npu(self, x: Tensor) -> Tensor:
        bias = self.bias
        if bias is not None:
            bias = bias.to(torch.float32 if x.dtype == torch.bfloat16 else x.dtype)
        scale, zero = self._weight_scale, self._weight_zero_point
        if x.dtype in (torch.float16, torch.bfloat16):
            scale, zero = scale.to(x.dtype), zero.to(x.dtype)
        out: Tensor = torch.ops.npu.npu_weight_quant_batchmatmul(
            x, self._weight_qdata.transpose(-1, -2), scale, zero, bias=bias,
            antiquant_group_size=self.group,
        )  # fmt: skip
        return out

    def _on_xpu(self, x: Tensor) -> Tensor:
        given: Any = self._weight_zero_point
        zero = torch.empty_like(given, dtype=torch.int8)
        out: Tensor = torch.ops.aten._weight_int4pack_mm_with_scales_and_zeros(
            x, self._weight_qdata, self.group, self._weight_scale, zero
        )
        return out


def _kept(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor, False)
