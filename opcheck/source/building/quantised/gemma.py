"""Gemma's own packed weights, of eight, four or two bits, made whole by PyTorch's operators.

``QuantizedLinear`` and ``QuantizedEmbedding`` of transformers 5.23, integrations/gemma_quant.py
lines 66 and 123, and which layers they take the place of: line 196.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, Section

_BYTE = 8
_BITS = (2, 4, 8)
_WAYS = "module_quant_configs"


class Gemma(Method):
    """Every linear layer but the last one, and embeddings where the config says so."""

    name = "gemma"
    whole = STAY

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.bits: dict[nn.Module, int] = {}

    def models(self, model: nn.Module) -> bool:
        """The bits of each layer, by the first pattern that is found in its path."""
        ways = self.setting(_WAYS) or {}
        if not isinstance(ways, Mapping):
            raise SourceError(
                Sentence("{name} is {text_value}, want an object", name=_WAYS, text_value=ways)
            )
        for path, module in model.named_modules():
            way: Any = next((way for key, way in ways.items() if _found(key, path)), {})
            asked = way.get("num_bits") if isinstance(way, Mapping) else None
            self.bits[module] = self.setting("num_bits", 4) if asked is None else asked
        return set(self.bits.values()) <= set(_BITS)

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class, and embeddings."""
        packs = bool(self.setting("quantize_embeddings"))
        return isinstance(module, nn.Linear) or (packs and isinstance(module, nn.Embedding))

    def made(self, module: nn.Module) -> nn.Module:
        """One of the library's two."""
        if isinstance(module, nn.Embedding):
            return QuantizedEmbedding(module, self.bits[module])
        return super().made(module)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's linear layer."""
        return QuantizedLinear(rows, columns, linear.bias, self.bits[linear])


def _found(pattern: str, path: str) -> bool:
    try:
        return re.search(pattern, path) is not None
    except re.error as error:
        raise SourceError(
            Sentence(
                "{name} has {text_value}, which is no regular expression ({text})",
                name=_WAYS, text_value=repr(pattern), text=error,
            )
        ) from error  # fmt: skip


def _packed(rows: int, columns: int, bits: int) -> nn.Parameter:
    each = _BYTE // bits
    kind = torch.int8 if bits == _BYTE else torch.uint8
    return nn.Parameter(torch.empty(rows, -(-columns // each), dtype=kind), False)


class QuantizedLinear(nn.Module):
    """Packed weights with a scale for each row; activations are rounded on both sides."""

    input_activation_scale: Tensor
    output_activation_scale: Tensor

    def __init__(self, rows: int, columns: int, bias: Any, bits: int) -> None:
        super().__init__()
        self.columns, self.bits, self.bias = columns, bits, bias
        self.weight = _packed(rows, columns, bits)
        self.weight_scale = nn.Parameter(torch.ones(rows, 1, dtype=torch.float32), False)
        for name in ("input_activation_scale", "output_activation_scale"):
            setattr(self, name, nn.Parameter(torch.zeros((), dtype=torch.float32), False))

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.columns, self.bits

    def forward(self, x: Tensor) -> Tensor:
        """Round, make the weights whole, multiply, and round again."""
        x = _rounded(x, self.input_activation_scale)
        weight = _unpacked(self.weight, self.columns, self.bits).to(x.dtype)
        out = functional.linear(x, weight * self.weight_scale.to(x.dtype), self.bias)
        return _rounded(out, self.output_activation_scale)


class QuantizedEmbedding(nn.Module):
    """A packed table with a scale for each row."""

    def __init__(self, whole: Any, bits: int) -> None:
        super().__init__()
        self.columns, self.bits, self.dtype = whole.embedding_dim, bits, whole.weight.dtype
        self.factor = float(getattr(whole, "scalar_embed_scale", 1.0))
        rows = whole.num_embeddings
        self.embedding_quantized = _packed(rows, self.columns, bits)
        self.embedding_scale = nn.Parameter(torch.ones(rows, 1, dtype=torch.float32), False)

    @property
    def weight(self) -> Tensor:
        """The whole table."""
        return self._whole(self.embedding_quantized, self.embedding_scale)

    def forward(self, indices: Tensor) -> Tensor:
        """Make the rows that are asked for whole."""
        out = self._whole(self.embedding_quantized[indices], self.embedding_scale[indices])
        return (out * self.factor).to(self.dtype)

    def _whole(self, rows: Tensor, scales: Tensor) -> Tensor:
        whole = _unpacked(rows, self.columns, self.bits)
        scales = scales.repeat_interleave(self.columns // scales.shape[-1], dim=-1)
        return whole.to(self.dtype) * scales.to(self.dtype)


def _rounded(x: Tensor, scale: Tensor) -> Tensor:
    """Line 23: to eight bits and back, or as it was where the scale is 0."""
    scale = scale.to(x.dtype)
    known = scale != 0
    own = torch.where(known, scale, torch.ones_like(scale))
    return torch.where(known, torch.clamp(torch.round(x / own), -128.0, 127.0) * own, x)


def _unpacked(packed: Tensor, columns: int, bits: int) -> Tensor:
    """Lines 39 and 53: the numbers of each byte, the lowest bits first, side by side."""
    if bits == _BYTE:
        return packed
    packed, places = packed.to(torch.uint8), range(0, _BYTE, bits)
    found = [_part(packed, place, bits).to(torch.int8) - 2 ** (bits - 1) for place in places]
    return torch.stack(found, dim=-1).reshape(*packed.shape[:-1], -1)[..., :columns]


def _part(packed: Tensor, place: int, bits: int) -> Tensor:
    """The bits from a place on, all that are left at the last one."""
    part = packed >> place if place else packed
    return part if place + bits == _BYTE else part & (2**bits - 1)
