"""VPTQ 0.0.5: vectors of weights are places in a codebook, and a kernel of CUDA's looks them up.

``VQuantLinear``, vptq/layers/vqlinear.py line 16, and ``quant_gemm``, vptq/ops/quant_gemm.py line
163, at commit 950716d7bb3e5e240cf83931aa1752a557e57fb0. Which layers it takes the place of:
``replace_with_vptq_linear`` of transformers 5.23, integrations/vptq.py line 27. Devices:
quantizers/quantizer_vptq.py line 47.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import Method, Section

_ops = torch.ops.vptq
_DEFAULTS: Section = {
    "group_num": 1, "group_size": -1, "outlier_size": 0, "indices_as_float": False,
    "enable_norm": True, "enable_perm": True, "vector_lens": [-1, -1], "num_centroids": [-1, -1],
    "num_res_centroids": [-1, -1],
}  # fmt: skip
"""Settings of a layer (quantization_config.py line 941)."""
_PAIRS = ("vector_lens", "num_centroids", "num_res_centroids")
_WORD = 32
_FEW = 3
"""Rows from which on the weights are made whole."""


class VPTQ(Method):
    """Every linear layer but the last one, each as the config has it."""

    name = "vptq"
    library = "vptq"
    whole = STAY

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.ways: dict[nn.Module, Section] = {}

    def models(self, model: nn.Module) -> bool:
        """Layers of which the config says how they are packed."""
        kept, each = self.kept(model), self._named("config_for_layers")
        shared = self._named("shared_layer_config")
        for path, module in model.named_modules():
            if self.replaceable(module) and not self.keeps(path, kept):
                # the library takes the second part of a path
                way = each.get(path) or shared.get(".".join(path.split(".")[1:2]))
                self.ways[module] = _checked(path, way)
        return bool(self.ways)

    def kept(self, model: nn.Module) -> Sequence[str]:
        """What the config names, or what transformers keeps by itself."""
        return self.kept_by("modules_to_not_convert", model)

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's."""
        return VQuantLinear(linear, rows, columns, self.ways[linear])

    def _named(self, name: str) -> Section:
        found = self.setting(name) or {}
        if not isinstance(found, Mapping):
            raise SourceError(
                Sentence("{name} is {text_value}, want an object", name=name, text_value=found)
            )
        return found


def _checked(path: str, way: Any) -> Section:
    """How the weights of a layer are packed.

    Raises:
        SourceError: the config does not tell.
    """
    if not isinstance(way, Mapping):
        raise SourceError(Sentence("config_for_layers has nothing for {text_path}", text_path=path))
    asked = {**_DEFAULTS, **way}
    pairs = all(
        isinstance(asked[name], list | tuple)
        and len(asked[name]) == 2
        and all(isinstance(one, int) for one in asked[name])
        for name in _PAIRS
    )
    sizes = all(isinstance(asked[name], int) for name in ("group_num", "group_size"))
    if not pairs or not sizes or min(asked["vector_lens"][1], asked["num_centroids"][1]) <= 0:
        raise SourceError(
            Sentence("config_for_layers is not complete for {text_path}", text_path=path)
        )
    return asked


class VQuantLinear(nn.Module):
    """Codebooks for vectors of weights, and packed places in them, with what is left over."""

    def __init__(self, linear: Any, rows: int, columns: int, way: Section) -> None:
        super().__init__()
        self.rows, self.columns, self.dtype = rows, columns, linear.weight.dtype
        (outer, length), (outliers, count) = way["vector_lens"], way["num_centroids"]
        rest, groups, size = way["num_res_centroids"][1], way["group_num"], way["group_size"]
        self.length, self.outer, self.books = length, outer, groups
        places = torch.float16 if way["indices_as_float"] else torch.int16
        self.centroids = self._floats(groups, count * length)
        self.res_centroids = self._floats(groups, rest * length) if rest > 0 else None
        self.outlier_centroids = self.outlier_indices = None
        if outer > 1 and outliers > 0:
            self.outlier_centroids = self._floats(1, outliers * outer)
            made = torch.empty(1, -(-rows // outer), way["outlier_size"], dtype=places)
            self.outlier_indices = nn.Parameter(made, False)
        order = torch.arange(columns).to(torch.int16) if way["enable_perm"] else None
        self.perm = None if order is None else nn.Parameter(order, False)
        self.weight_scale = self._floats(columns) if way["enable_norm"] else None
        self.weight_bias = self._floats(columns) if way["enable_norm"] else None
        bits = int(math.log2(count)) + (int(math.log2(rest)) if rest > 0 else 0)
        words = math.ceil(max(size, 0) * bits / _WORD)
        made = torch.empty(groups, -(-rows // length), words, dtype=torch.int32)
        self.indices, self.bias = nn.Parameter(made, False), linear.bias

    def _floats(self, *shape: int) -> nn.Parameter:
        return nn.Parameter(torch.empty(shape, dtype=self.dtype), False)

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.rows, self.columns, self.length, self.books

    def forward(self, x: Tensor) -> Tensor:
        """Multiply a few rows by the kernel; for more, it makes the weights whole."""
        back = None
        if self.perm is not None:
            back = torch.argsort(self.perm.view(torch.uint16).to(torch.int64))
            back = back.to(torch.uint16).view(torch.int16)
        own = self.centroids.view(self.books, -1, self.length)
        rest, others = self.res_centroids, self.outlier_centroids
        more = None if rest is None else rest.view(self.books, -1, self.length)
        outer = None if others is None else others.view(1, -1, self.outer)
        whole, apart = (own, None, more), (self.outlier_indices, outer)
        scale = self.weight_scale, self.weight_bias
        if math.prod(x.shape[:-1]) < _FEW:
            out: Tensor = _ops.quant_gemv(
                x, self.indices, *whole, *apart, self.perm, *scale, self.bias,
                self.columns, self.rows,
            )  # fmt: skip
            return out
        weight = _ops.dequant(
            self.indices, *whole, *apart, back, *scale, self.length, self.columns, self.rows
        )
        return functional.linear(x, weight, self.bias)
