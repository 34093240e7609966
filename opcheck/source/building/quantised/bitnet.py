"""BitNet: weights of three values, which PyTorch's own operators unpack in each call.

``BitLinear`` and ``AutoBitLinear`` of transformers 5.23, integrations/bitnet.py lines 130 and 242,
and which layers they take the place of: line 285. What the library decorates with torch.compile is
compiled here as well, so that a report tells of it.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, one_of

_FOUR = 4
"""Weights in a byte."""
_LEAST = 1e-5
_AUTO = "autobitlinear"
_ONLINE = "online"


class BitNet(Method):
    """Every linear layer but the last one."""

    name = "bitnet"
    whole = STAY

    def models(self, model: nn.Module) -> bool:
        """Both kinds of layers (quantization_config.py line 1601)."""
        one_of("linear_class", self._class(), ["bitlinear", _AUTO])
        one_of("quantization_mode", self._mode(), [_ONLINE, "offline"])
        if self._class() == _AUTO:
            self.notes = (
                Sentence(
                    "weights of BitNet in AutoBitLinear are of the model's dtype: transformers "
                    "unpacks them when it loads them"
                ),
            )
        return True

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """One of the library's two."""
        eps = self.setting("rms_norm_eps", 1e-6) if self.setting("use_rms_norm") else None
        if self._class() == _AUTO:
            return AutoBitLinear(linear, online=self._mode() == _ONLINE, eps=eps)
        return BitLinear(linear, rows, columns, eps=eps)

    def _class(self) -> str:
        return str(self.setting("linear_class", "bitlinear"))

    def _mode(self) -> str:
        return str(self.setting("quantization_mode", "offline"))


class BitLinear(nn.Module):
    """Four weights a byte, and one scale; activations become whole numbers of eight bits."""

    def __init__(self, linear: Any, rows: int, columns: int, *, eps: float | None) -> None:
        super().__init__()
        self.dtype: torch.dtype = linear.weight.dtype
        packed = torch.empty(rows // _FOUR, columns, dtype=torch.uint8)
        self.weight, self.weight_scale = nn.Buffer(packed), nn.Buffer(torch.ones(1).to(self.dtype))
        self.bias = None if linear.bias is None else nn.Buffer(torch.empty_like(linear.bias))
        self.rms_norm = None if eps is None else _Norm(columns, eps, self.dtype)

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return (self.dtype,)

    def forward(self, x: Tensor) -> Tensor:
        """Unpack the weights, and multiply in the model's dtype."""
        if self.rms_norm is not None:
            x = self.rms_norm(x)
        weight = torch.compile(_unpacked)(self.weight, self.dtype)
        x, scale = torch.compile(_rounded)(x)
        out = functional.linear(x.to(self.dtype), weight)
        out = torch.compile(_scaled)(out, self.weight_scale, scale)
        if self.bias is not None:
            out += self.bias.view(1, -1).expand_as(out)
        return out


class AutoBitLinear(nn.Module):
    """Weights of the model's dtype; activations are rounded, and so are ``online`` weights."""

    def __init__(self, linear: Any, *, online: bool, eps: float | None) -> None:
        super().__init__()
        self.online, dtype = online, linear.weight.dtype
        self.weight, self.bias = linear.weight, linear.bias
        self.weight_scale = None if online else nn.Buffer(torch.ones(1).to(dtype))
        self.rms_norm = None if eps is None else _Norm(linear.in_features, eps, dtype)

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return (self.online,)

    def forward(self, x: Tensor) -> Tensor:
        """Round, multiply, and scale."""
        if self.rms_norm is not None:
            x = self.rms_norm(x)
        weight = torch.compile(_three_values)(self.weight) if self.online else self.weight
        out = functional.linear(torch.compile(_eight_bits)(x), weight, self.bias)
        return out if self.weight_scale is None else out * self.weight_scale


class _Norm(nn.Module):
    """``LlamaRMSNorm``, models/llama/modeling_llama.py line 52."""

    def __init__(self, columns: int, eps: float, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(columns, dtype=dtype), False), eps

    def forward(self, x: Tensor) -> Tensor:
        given, x = x.dtype, x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * x.to(given)


def _unpacked(packed: Tensor, dtype: torch.dtype) -> Tensor:
    """Line 70: the pairs of bits of each byte, the lowest first, one part below another."""
    rows = packed.shape[0]
    shape = (rows * _FOUR, *packed.shape[1:])
    made = torch.zeros(shape, device=packed.device, dtype=torch.uint8)
    for part in range(_FOUR):
        mask = 3 << (2 * part)
        made[part * rows : (part + 1) * rows] = (packed & mask) >> (2 * part)
    return made.to(dtype) - 1


def _rounded(x: Tensor) -> tuple[Tensor, Tensor]:
    scale = 127 / x.abs().max(dim=-1, keepdim=True).values.clamp(min=_LEAST)
    return (x * scale).round().clamp(-128, 127).to(torch.int8), scale


def _scaled(out: Tensor, own: Tensor, given: Tensor) -> Tensor:
    return out / (own * given)


def _three_values(weight: Tensor) -> Tensor:
    dtype, weight = weight.dtype, weight.float()
    scale = 1.0 / weight.abs().mean().clamp_(min=_LEAST)
    return ((weight * scale).round().clamp(-1, 1) / scale).to(dtype)


def _eight_bits(x: Tensor) -> Tensor:
    dtype, x = x.dtype, x.float()
    scale = 127 / x.abs().max(dim=-1, keepdim=True).values.clamp_(min=_LEAST)
    return ((x * scale).round().clamp(-128, 127) / scale).to(dtype)
