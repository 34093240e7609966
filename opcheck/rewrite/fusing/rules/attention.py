"""Attention that is spelled out: a softmax between two products of matrices."""

import math
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Generator, Tensor
from torch.nn import functional

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.fusing.base import Found, Fusion, Variant, drawn

_LOWEST = -1e4
"""What fills scores that are not to be seen has to be as low as that."""

Scores = Callable[..., Tensor]
_SCALES: Mapping[str, Scores] = {
    "scale": lambda q, k, n: (q @ k.transpose(-2, -1)) * n["scale"],
    "divisor": lambda q, k, n: (q @ k.transpose(-2, -1)) / n["divisor"],
    "before": lambda q, k, n: (q * n["before"]) @ k.transpose(-2, -1),
    "": lambda q, k, n: q @ k.transpose(-2, -1),
}
"""How scores are scaled -> the scores."""
_MASKS: Mapping[str, Scores] = {
    "bias": lambda s, m, n: s + m,
    "hidden": lambda s, m, n: s.masked_fill(m, n["fill"]),
    "seen": lambda s, m, n: torch.where(m, s, n["fill"]),
    "": lambda s, m, n: s,
}
"""How scores are masked -> the masked scores."""
_FILLED = frozenset({"hidden", "seen"})


def _written(scaled: str, masked: str, wide: bool) -> Variant:
    """Attention with scores that are scaled and masked so, and a softmax in float32 or not."""

    def attention(q: Tensor, k: Tensor, v: Tensor, *masks: Tensor, **numbers: float) -> Tensor:
        scores = _SCALES[scaled](q, k, numbers)
        scores = _MASKS[masked](scores, masks[0] if masks else None, numbers)
        weights = scores.softmax(-1, dtype=torch.float32) if wide else scores.softmax(-1)
        return weights.to(q.dtype) @ v

    tensors = ("query", "key", "value", masked) if masked else ("query", "key", "value")
    numbers = (scaled,) if scaled else ()
    return Variant(attention, tensors, (*numbers, "fill") if masked in _FILLED else numbers)


def _all_ways() -> Iterator[Variant]:
    for masked in _MASKS:
        for scaled in _SCALES:
            yield _written(scaled, masked, wide=True)
            yield _written(scaled, masked, wide=False)


def _whole(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    hidden: Tensor | None = None,
    seen: Tensor | None = None,
    *,
    scale: float | None = None,
    divisor: float | None = None,
    before: float | None = None,
    fill: float = -math.inf,
) -> Tensor:
    mask = bias if seen is None else seen
    if hidden is not None:
        mask = hidden.logical_not()
    factor = before if scale is None else scale
    if divisor is not None:
        factor = 1 / divisor
    return functional.scaled_dot_product_attention(
        query, key, value, mask, scale=1.0 if factor is None else factor
    )


class AttentionOfTorch(Fusion):
    """``softmax(q @ k.T * scale + mask) @ v`` becomes ``F.scaled_dot_product_attention``.

    PyTorch documents the same formula. A fused kernel keeps the scores on the chip. On Ascend that
    is what runs ``npu_fusion_attention``, which the vendor's page wants called in training alone.
    Where a mask hides every key of a row the results differ, and are of no use in either.
    """

    name = "attention-torch"
    summary = "Use F.scaled_dot_product_attention"
    kernels = (
        "aten::scaled_dot_product_attention",
        "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_fused_attention_overrideable",
        "aten::_scaled_dot_product_attention_flash_musa",
        "aten::_scaled_dot_product_attention_math_for_mps",
    )
    tolerance = 16.0
    variants = tuple(_all_ways())
    replace = staticmethod(_whole)
    references = (
        "https://docs.pytorch.org/docs/stable/generated/"
        "torch.nn.functional.scaled_dot_product_attention.html",
    )

    def example(self) -> Mapping[str, Tensor]:
        """Two heads, and masks of three kinds."""
        seen = torch.ones(4, 4, dtype=torch.bool)
        return {
            "query": torch.ones(1, 2, 4, 8), "key": torch.ones(1, 2, 4, 8),
            "value": torch.ones(1, 2, 4, 8), "bias": torch.zeros(4, 4), "hidden": ~seen,
            "seen": seen,
        }  # fmt: skip

    def draw(self, name: str, like: Tensor, generator: Generator) -> Tensor:
        """Every row sees a key."""
        if name not in ("bias", "hidden", "seen"):
            return drawn(like, generator)
        shape = tuple(int(size) for size in like.shape)
        seen = torch.rand(shape, generator=generator) < 0.7
        seen[..., :1] = True
        if name == "bias":
            return torch.zeros(shape).masked_fill(~seen, -math.inf).to(like.dtype)
        return (~seen if name == "hidden" else seen).to(like.dtype)

    def refuses(self, found: Found) -> str:
        """Decline other shapes than PyTorch's function takes, and fillings that hide nothing."""
        query, key, value = (found.tensors[name] for name in ("query", "key", "value"))
        if query.dim() not in (3, 4) or key.shape != value.shape or query.dim() != key.dim():
            return Sentence("queries, keys and values are not of shapes that fused kernels take")
        if query.shape[:-2] != key.shape[:-2] or len({query.dtype, key.dtype, value.dtype}) > 1:
            return Sentence("queries, keys and values are not of shapes that fused kernels take")
        if found.numbers.get("fill", -math.inf) > _LOWEST:
            return Sentence("scores that are not to be seen are filled with too large a number")
        bias = found.tensors.get("bias")
        if bias is not None and bias.dtype != query.dtype:
            return Sentence("the mask is of another dtype than the queries")
        return ""
