"""Layers to which a LoRA adapter adds, as PEFT 0.21.2 computes them.

tuners/lora/layer.py: Linear.forward line 1074, Embedding.forward line 1487, _ConvNd.forward line
1797; the matrices of an adapter are in float32 where the base is in half precision
(cast_adapter_dtype in tuners/tuners_utils.py line 2705), and what is not of it is not trained
(_mark_only_adapters_as_trainable line 506).
"""

import math
import re
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.adapter_folder import Adapter

_HALF = (torch.float16, torch.bfloat16)


class LoraLayer(nn.Module):
    """A layer of the base, and the product of two small matrices beside it."""

    def __init__(self, base: nn.Module, adapter: Adapter, rank: int) -> None:
        super().__init__()
        self.base_layer = base
        self.scaling = adapter.alpha / (math.sqrt(rank) if adapter.root else rank)
        self.lora_dropout = nn.Dropout(adapter.dropout) if adapter.dropout else nn.Identity()
        self.lora_A, self.lora_B = self.matrices(base, adapter, rank)

    def matrices(self, base: nn.Module, adapter: Adapter, rank: int) -> tuple[nn.Module, nn.Module]:
        """The two layers that are added, in the dtype in which they compute."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """The base's result, and the adapter's in its own dtype."""
        result: Tensor = self.base_layer(x)
        given, own = result.dtype, _dtype(self.lora_A)
        x = x if x.dtype == own else x.to(own)
        result = result + self.lora_B(self.lora_A(self.lora_dropout(x))) * self.scaling
        return result.to(given)


class LoraLinear(LoraLayer):
    """``nn.Linear``, and transformers' ``Conv1D``, which keeps its weight transposed."""

    def matrices(self, base: nn.Module, adapter: Adapter, rank: int) -> tuple[nn.Module, nn.Module]:
        """Two linear layers."""
        weight: Tensor = base.weight  # type: ignore[assignment]  # such layers have one
        rows, columns = weight.shape if isinstance(base, nn.Linear) else weight.t().shape
        dtype = _own(weight.dtype)
        bias = adapter.own_bias
        return (
            nn.Linear(columns, rank, bias=False, dtype=dtype),
            nn.Linear(rank, rows, bias=bias, dtype=dtype),
        )


class LoraConv(LoraLayer):
    """Convolutions: the first of the same kernel, the second of one element."""

    def matrices(self, base: nn.Module, adapter: Adapter, rank: int) -> tuple[nn.Module, nn.Module]:
        """Two convolutions."""
        assert isinstance(base, nn.Conv1d | nn.Conv2d | nn.Conv3d)
        made: Callable[..., nn.Module] = type(base)
        dtype, ones = _own(base.weight.dtype), (1,) * len(base.kernel_size)
        size, stride, padding = base.kernel_size, base.stride, base.padding
        bias = adapter.own_bias
        return (
            made(base.in_channels, rank, size, stride, padding, bias=False, dtype=dtype),
            made(rank, base.out_channels, ones, ones, groups=base.groups, bias=bias, dtype=dtype),
        )


class LoraEmbedding(nn.Module):
    """A table of rows, and a smaller one whose rows are multiplied."""

    def __init__(self, base: nn.Embedding, adapter: Adapter, rank: int) -> None:
        super().__init__()
        self.base_layer = base
        self.scaling = adapter.alpha / (math.sqrt(rank) if adapter.root else rank)
        dtype = _own(base.weight.dtype)
        small = torch.zeros(rank, base.num_embeddings, dtype=dtype)
        self.lora_embedding_A = nn.Parameter(small)
        self.lora_embedding_B = nn.Parameter(torch.zeros(base.embedding_dim, rank, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The base's rows, and the adapter's in its own dtype."""
        base, result = self.base_layer, self.base_layer(x)
        given = result.dtype
        rows = functional.embedding(
            x, self.lora_embedding_A.T, base.padding_idx, base.max_norm, base.norm_type,
            base.scale_grad_by_freq, base.sparse,
        )  # fmt: skip
        result = result + (rows @ self.lora_embedding_B.T) * self.scaling
        return result.to(given)  # type: ignore[no-any-return]  # an embedding's


_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = "transformers.pytorch_utils"


def add(model: nn.Module, adapter: Adapter, place: str) -> int:
    """Put the layers of an adapter into a model, in place; gives how many.

    Nothing else of the model is trained from here on but what the adapter has trained whole.

    Raises:
        SourceError: it names no module of the model, or one that LoRA is not for.
    """
    before: Mapping[str, nn.Module] = dict(model.named_modules())
    found = {path: part for path, part in before.items() if path and adapter.has(path)}
    if not found:
        raise SourceError(
            Sentence(
                "{place}: no module of {name} is among its target_modules",
                place=place,
                name=type(model).__name__,
            ),
            Sentence("is it an adapter of another model?"),
        )
    made = {path: _layer(part, adapter, path, place) for path, part in found.items()}
    model.requires_grad_(False)
    for path, layer in made.items():
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, layer)
    _train(model, adapter)
    return len(made)


def _layer(part: nn.Module, adapter: Adapter, path: str, place: str) -> nn.Module:
    rank = adapter.rank_of(path)
    match part:
        case nn.Embedding():
            return LoraEmbedding(part, adapter, rank)
        case nn.Conv1d() | nn.Conv2d() | nn.Conv3d():
            return LoraConv(part, adapter, rank)
        case nn.Linear():
            return LoraLinear(part, adapter, rank)
        case _ if type(part).__module__ == _TRANSPOSED:
            return LoraLinear(part, adapter, rank)
    raise SourceError(
        Sentence(
            "{place}: target_modules has {path}, a {name}, which LoRA is not for",
            place=place,
            path=path,
            name=type(part).__name__,
        ),
        Sentence("is it an adapter of another model?"),
    )


def _train(model: nn.Module, adapter: Adapter) -> None:
    """Have the adapter's own parameters trained, and what it says of the base's."""
    for path, part in model.named_modules():
        if any(f".{path}".endswith(f".{name}") for name in adapter.saved):
            part.requires_grad_(True)
    bases = {"all": r"(.*\.)?bias", "lora_only": r".*\.base_layer\.bias"}
    trained = re.compile(rf"(.*\.)?lora_.*|{bases.get(adapter.bias, '(?!)')}")
    for name, parameter in model.named_parameters():
        if trained.fullmatch(name):
            parameter.requires_grad_(True)


def _own(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in _HALF else dtype


def _dtype(layer: nn.Module) -> torch.dtype:
    weight: Tensor = layer.weight  # type: ignore[assignment]  # such layers have one
    return weight.dtype
