"""Attention without a fused kernel: a softmax between two products."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import SOURCES, Arguments, Rule
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import FLOATS, Draw


def _repeated(x: Tensor, heads: int) -> Tensor:
    """Heads of keys or values, each as often as queries share it."""
    return x if x.size(-3) == heads else x.repeat_interleave(heads // x.size(-3), -3)


def _weights(scores: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
    """The softmax of each row; a row that sees no key has zeros."""
    if is_causal:
        row = torch.arange(scores.size(-2), device=scores.device).unsqueeze(-1)
        seen = torch.arange(scores.size(-1), device=scores.device) <= row
        return torch.where(seen, scores, torch.full_like(scores, -math.inf)).softmax(-1)
    if mask is None:
        return scores.softmax(-1)
    if mask.dtype == torch.bool:
        scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
    else:
        scores = scores + mask
    blind = scores.detach().amax(-1, keepdim=True) == -math.inf
    weights = torch.where(blind, torch.zeros_like(scores), scores).softmax(-1)
    return torch.where(blind, torch.zeros_like(weights), weights)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Multiply queries by keys, take the softmax of what is seen, and multiply by values."""
    if enable_gqa:
        key, value = _repeated(key, query.size(-3)), _repeated(value, query.size(-3))
    half = query.dtype in (torch.float16, torch.bfloat16)
    q, k, v = (x.float() if half else x for x in (query, key, value))
    root = math.sqrt(1 / math.sqrt(q.size(-1)) if scale is None else scale)
    weights = _weights((q * root) @ (k * root).transpose(-2, -1), attn_mask, is_causal)
    if dropout_p > 0.0:
        weights = torch.nn.functional.dropout(weights, dropout_p)
    return (weights @ v).to(query.dtype)


class AttentionByProducts(Rule):
    """``softmax(query @ key.T * scale + mask) @ value``, as PyTorch's own math kernel has it.

    Both factors are scaled by the root of the scale before they meet. Half precision is widened to
    float32. Heads of keys and values are repeated where queries share them, the causal mask begins
    at the first key, and a query that may see nothing gives zeros. All scores are there at once:
    batch times heads times queries times keys of them. Gradients are within the tolerance of the
    largest of them all.
    """

    name = "attention-by-products"
    label: ClassVar[Label] = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::scaled_dot_product_attention",)
    summary = "Multiply queries by keys, take the softmax, and multiply by values"
    spellings: ClassVar[tuple[str, ...]] = ("torch.nn.functional.scaled_dot_product_attention",)
    references: ClassVar[tuple[str, ...]] = (
        f"{SOURCES}/aten/src/ATen/native/transformers/attention.cpp",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(attention)

    def refuses(self, call: Call) -> str:
        """Decline dropout, and what PyTorch's attention does not take."""
        if call.given("dropout_p"):
            return "which weights dropout takes away is drawn"
        return _not_taken(call)

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Measure gradients by the largest of all: of one key, that of the query is nothing."""
        results, gradients = outcome
        if gradients is None:
            return outcome
        return results, [torch.cat([gradient.flatten() for gradient in gradients])]

    def example(self, op: str, draw: Draw) -> Arguments:
        """With masks of both kinds, causal, with shared heads, and with a scale of its own."""
        return _drawn(draw, FLOATS, 0.0)


class AttentionWithDropoutByProducts(AttentionByProducts):
    """``dropout(softmax(query @ key.T * scale + mask)) @ value``.

    As ``attention-by-products``, with weights taken away by chance and the others made larger.
    """

    name = "attention-with-dropout-by-products"
    label = Label.APPROXIMATE
    tolerance = 0.0
    random = True
    summary = "Multiply queries by keys, take the softmax, drop some, and multiply by values"
    gives_up = "the same seed takes other weights away"

    def refuses(self, call: Call) -> str:
        """Decline calls without dropout, which another rule follows to the last digits."""
        if not call.given("dropout_p"):
            return "it has no dropout"
        return _not_taken(call)

    def example(self, op: str, draw: Draw) -> Arguments:
        """The same, with dropout."""
        return _drawn(draw, FLOATS[:2], draw.choose((0.25, 0.5)))


def _not_taken(call: Call) -> str:
    """Say what PyTorch's attention itself refuses, or leaves open."""
    query, key, mask = (call.given(name) for name in ("query", "key", "attn_mask"))
    if query.is_nested or not query.is_floating_point():
        return "the queries are no dense floating-point numbers"
    if mask is not None and call.given("is_causal"):
        return "it is causal, and has a mask as well"
    if (call.given("scale") or 0.0) < 0.0:
        return "the scale is negative"
    return "" if key.size(-2) else "there are no keys"


def _drawn(draw: Draw, dtypes: tuple[torch.dtype, ...], dropout: float) -> Arguments:
    dtype, heads = draw.choose(dtypes), draw.integer(1, 2)
    queries, keys, width = draw.integer(1, 5), draw.integer(1, 5), draw.choose((4, 8))
    shared = draw.flag()
    lead = [draw.integer(1, 2)] if draw.flag() or shared else []
    q = draw.tensor([*lead, heads * (2 if shared else 1), queries, width], (dtype,), edges=False)
    k, v = (draw.tensor([*lead, heads, keys, width], (dtype,), edges=False) for _ in range(2))
    named: dict[str, Any] = {"enable_gqa": True} if shared else {}
    if draw.flag():
        named["scale"] = draw.choose((0.5, 0.125))
    kind = draw.choose(("none", "causal", "bool", "numbers"))
    mask = None
    if kind == "bool":
        mask = draw.tensor([queries, keys], (torch.bool,))
    elif kind == "numbers":
        mask = draw.tensor([queries, keys], (dtype,), edges=False)
    return (q, k, v, mask, dropout, kind == "causal"), named
