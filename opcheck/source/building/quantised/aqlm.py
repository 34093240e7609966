"""AQLM 1.1.7: each weight is a sum of vectors from codebooks, one of each.

``QuantizedLinear``, inference_lib/src/aqlm/inference.py line 11, and the kernel that it takes by
device and by the number of rows: inference_kernels/kernel_selector.py line 23, at commit
e79a896ed6656fe4ed06193d42d004e7d0bbdbb2; that takes the kernel of Triton on XPU, which 1.1.7 does
not. Which layers it takes the place of: ``replace_with_aqlm_linear`` of transformers 5.23,
integrations/aqlm.py line 27.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, patterns_of

_ops = torch.ops.aqlm
_SIZES = {
    "in_group_size": 8,
    "out_group_size": 1,
    "num_codebooks": 1,
    "nbits_per_codebook": 16,
}
"""Settings with their defaults (quantization_config.py line 884)."""
_BITS = ((8, torch.int8), (16, torch.int16), (32, torch.int32), (64, torch.int64))
_KERNELS = {(1, 16, 8): "code1x16", (1, 16, 16): "code1x16", (2, 8, 8): "code2x8",
            (1, 8, 8): "code1x8"}  # fmt: skip
"""Codebooks, bits of each and length of a vector -> kernels for CUDA."""
_AT_RANDOM = Sentence(
    "the config names layers by their weights (lm_head.weight), and transformers 5.23 packs these "
    "as well: the checkpoint has no packed weights of them, and it begins them at random"
)
_ROWS = 6
"""Up to so many rows are multiplied without making the weights whole."""


class AQLM(Method):
    """Every linear layer that the config does not name, the last one with them."""

    name = "aqlm"
    library = "aqlm"
    whole = STAY

    def models(self, model: nn.Module) -> bool:
        """Sizes that are whole numbers."""
        for name, default in _SIZES.items():
            size = self.setting(name, default)
            if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
                raise SourceError(
                    Sentence(
                        "{name} is {text_value}, want a positive integer",
                        name=name, text_value=size,
                    )
                )  # fmt: skip
        return self._size("nbits_per_codebook") <= _BITS[-1][0]

    def unseen(self, model: nn.Module, names: Collection[str]) -> Sentence | None:
        """Layers that the config names by their weights, as AQLM does, and packed experts."""
        named = {path for path in self.kept(model) if path.endswith(".weight")}
        return _AT_RANDOM if named.intersection(names) else super().unseen(model, names)

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, and no other."""
        name = "linear_weights_not_to_quantize"
        return patterns_of(name, self.setting(name))

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's."""
        for name, features in (("out_group_size", rows), ("in_group_size", columns)):
            if features % self._size(name):
                raise SourceError(
                    Sentence(
                        "{name} is {text_value}, which does not divide {columns} features",
                        name=name, text_value=self._size(name), columns=features,
                    )
                )  # fmt: skip
        return QuantizedLinear(linear, rows, columns, *map(self._size, _SIZES))

    def _size(self, name: str) -> int:
        return int(self.setting(name, _SIZES[name]))


class QuantizedLinear(nn.Module):
    """Codebooks, which vector of each makes a part of a row, and a scale for each row."""

    def __init__(
        self,
        linear: Any,
        rows: int,
        columns: int,
        inner: int,
        outer: int,
        books: int,
        bits: int,
    ) -> None:
        super().__init__()
        dtype: torch.dtype = linear.weight.dtype
        self.bits, self.kernel = bits, _KERNELS.get((books, bits, inner)) if outer == 1 else None
        self.single = outer == 1
        kind = next(found for most, found in _BITS if bits <= most)
        made = torch.empty(rows // outer, columns // inner, books, dtype=kind)
        self.codebooks = nn.Parameter(torch.empty(books, 2**bits, outer, inner, dtype=dtype), False)
        self.codes = nn.Parameter(made, False)
        self.scales = nn.Parameter(torch.empty(rows // outer, 1, 1, 1, dtype=dtype), False)
        self.bias = linear.bias

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.bits, self.kernel, self.single

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by a kernel, or make the weights whole."""
        cuda, few = x.device.type == "cuda", math.prod(x.shape[:-1]) <= _ROWS
        packed = self.codes, self.codebooks, self.scales
        if cuda and self.kernel is not None:
            name = f"{self.kernel}_matmat" if few else f"{self.kernel}_matmat_dequant"
            out: Tensor = getattr(_ops, name)(x, *packed, self.bias)
            return out
        if cuda and few and self.single:
            made: Tensor = _ops.triton_matmul(x, *packed, self.bias)
            return made
        codes = self.codes.to(torch.int64) % 2**self.bits
        return functional.linear(x, _whole(codes, self.codebooks, self.scales), self.bias)


def _whole(codes: Tensor, books: Tensor, scales: Tensor) -> Tensor:
    """utils.py line 46: the vectors of each place, summed and scaled."""
    count, size, outer, inner = books.shape
    rows, columns, _ = codes.shape
    starts = torch.arange(0, count * size, size, device=codes.device)
    flat = functional.embedding_bag(
        codes.flatten(0, -2) + starts, books.flatten(0, 1).flatten(-2, -1), mode="sum"
    )
    made = flat.view([rows, columns, outer, inner]).mul(scales)
    return made.swapaxes(-3, -2).reshape([rows * outer, columns * inner])
