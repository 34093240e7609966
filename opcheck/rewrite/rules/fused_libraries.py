"""Attention, normalizations and convolutions of libraries a target lacks, by PyTorch's own."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


def _seen(queries: int, keys: int, causal: bool, window: Sequence[int], like: Tensor) -> Tensor:
    """Which keys each query sees; the last query stands at the last key."""
    row = torch.arange(queries, device=like.device).unsqueeze(-1) + (keys - queries)
    column = torch.arange(keys, device=like.device).unsqueeze(0)
    left, right = window[0], 0 if causal else window[1]
    seen = column >= (row - left if left >= 0 else row - queries - keys)
    return seen & (column <= row + right) if right >= 0 else seen


def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Sequence[int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Tensor:
    """Put heads before positions, repeat those of keys and values, and say what is seen."""
    groups = q.size(2) // k.size(2)
    if groups > 1:
        k, v = k.repeat_interleave(groups, 2), v.repeat_interleave(groups, 2)
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    everything = window_size[0] < 0 and window_size[1] < 0
    mask, plain = None, causal and everything and q.size(2) == k.size(2)
    if not plain and (causal or not everything):
        mask = _seen(q.size(2), k.size(2), causal, window_size, q)
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q, k, v, mask, 0.0, plain, scale=softmax_scale).transpose(1, 2)


def memory_efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    p: float = 0.0,
    scale: float | None = None,
    causal: bool = False,
) -> Tensor:
    """Put heads before positions, where there are heads."""
    attend = torch.nn.functional.scaled_dot_product_attention
    if query.dim() == 3:
        return attend(query, key, value, attn_bias, 0.0, causal, scale=scale)
    query, key, value = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
    return attend(query, key, value, attn_bias, 0.0, causal, scale=scale).transpose(1, 2)


class FlashAttnBySdpa(Rule):
    """``scaled_dot_product_attention`` with heads before positions.

    ``flash_attn_func`` has positions before heads, and lets keys and values have fewer heads. Its
    causal mask ends at the last key, PyTorch's begins at the first: where there are more keys than
    queries, or a window, the mask is spelled out.
    """

    name = "flash-attn-by-sdpa"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("flash_attn::flash_attn_func",)
    summary = "Call scaled_dot_product_attention with heads before positions"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/Dao-AILab/flash-attention/blob/main/flash_attn/flash_attn_interface.py",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(flash_attn_func)

    def refuses(self, call: Call) -> str:
        """Decline what PyTorch's attention does not take."""
        if call.given("dropout_p"):
            return "which values dropout takes away differs"
        if call.given("softcap"):
            return "the scores are capped"
        if call.given("alibi_slopes") is not None:
            return "the scores have a slope"
        if call.given("causal") and call.given("q").size(1) > call.given("k").size(1):
            return "the first queries see no key"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """With fewer heads of keys, more keys than queries, and a window."""
        dtype, batch, heads = draw.choose(FLOATS[:2]), draw.integer(1, 2), draw.integer(1, 2)
        queries, width = draw.integer(1, 5), draw.choose((4, 8))
        keys = queries + draw.integer(0, 3)
        q = draw.tensor((batch, queries, heads * 2, width), (dtype,), edges=False)
        k, v = (draw.tensor((batch, keys, heads, width), (dtype,), edges=False) for _ in range(2))
        window = draw.choose(([-1, -1], [2, 0], [1, 1]))
        return (q, k, v, 0.0, draw.choose((None, 0.5)), draw.flag(), window), {}


class MemoryEfficientAttentionBySdpa(Rule):
    """``scaled_dot_product_attention`` with heads before positions; without heads, as it is.

    xformers' lower triangle begins at the first key, as PyTorch's does.
    """

    name = "memory-efficient-attention-by-sdpa"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("xformers::memory_efficient_attention",)
    summary = "Call scaled_dot_product_attention with heads before positions"
    references: ClassVar[tuple[str, ...]] = (
        "https://facebookresearch.github.io/xformers/components/ops.html",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(memory_efficient_attention)

    def refuses(self, call: Call) -> str:
        """Decline dropout and groups of heads."""
        if call.given("p"):
            return "which values dropout takes away differs"
        if call.given("query").dim() > 4:
            return "heads lie in groups"
        if call.given("causal") and call.given("attn_bias") is not None:
            return "it has a mask beside the lower triangle"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without heads, a bias or the lower triangle."""
        dtype, batch, width = draw.choose(FLOATS[:2]), draw.integer(1, 2), draw.choose((4, 8))
        queries, keys = draw.integer(1, 5), draw.integer(1, 5)
        heads = [draw.integer(1, 3)] if draw.flag() else []
        q = draw.tensor((batch, queries, *heads, width), (dtype,), edges=False)
        k, v = (draw.tensor((batch, keys, *heads, width), (dtype,), edges=False) for _ in range(2))
        kind = draw.choose(("none", "bias", "causal"))
        shape = (batch, *heads, queries, keys)
        bias = draw.tensor(shape, (dtype,), edges=False) if kind == "bias" else None
        return (q, k, v, bias, 0.0, draw.choose((None, 0.5))), {"causal": kind == "causal"}


def fused_layer_norm_affine(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    normalized_shape: Sequence[int],
    eps: float = 1e-6,
    memory_efficient: bool = False,
) -> Tensor:
    """Call PyTorch's own, whose eps has another default."""
    return torch.nn.functional.layer_norm(input, list(normalized_shape), weight, bias, eps)


def fused_rms_norm_affine(
    input: Tensor,
    weight: Tensor | None,
    normalized_shape: Sequence[int],
    eps: float = 1e-6,
    memory_efficient: bool = False,
) -> Tensor:
    """Call PyTorch's own, whose eps has another default."""
    return torch.nn.functional.rms_norm(input, list(normalized_shape), weight, eps)


def causal_conv1d_fn(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    seq_idx: Tensor | None = None,
    initial_states: Tensor | None = None,
    return_final_states: bool = False,
    final_states_out: Tensor | None = None,
    activation: str | None = None,
) -> Tensor:
    """Convolve each channel, with zeros in front, and leave out what lies behind the end."""
    behind = weight.size(1) - 1
    groups, length = weight.size(0), x.size(-1)
    made = torch.nn.functional.conv1d(x, weight.unsqueeze(1), bias, 1, behind, 1, groups)
    made = made[..., :length]
    return made if activation is None else torch.nn.functional.silu(made)


class FusedLayerNormByLayerNorm(Rule):
    """``torch.nn.functional.layer_norm`` with the same arguments."""

    name = "fused-layer-norm-by-layer-norm"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("apex::fused_layer_norm_affine",)
    summary = "Use torch.nn.LayerNorm"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/NVIDIA/apex/blob/master/apex/normalization/fused_layer_norm.py",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(fused_layer_norm_affine)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without weight and bias."""
        dtype = draw.choose(FLOATS[:2])
        x = draw.tensor(draw.shape(2, 4, smallest=2), (dtype,), edges=False)
        shape = list(x.shape[-1:])
        weight = draw.tensor(shape, (dtype,), edges=False) if draw.flag() else None
        bias = None if weight is None else draw.tensor(shape, (dtype,), edges=False)
        return (x, weight, bias, shape, draw.choose((1e-6, 1e-3))), {}


class FusedRmsNormByRmsNorm(Rule):
    """``torch.nn.functional.rms_norm`` with the same arguments."""

    name = "fused-rms-norm-by-rms-norm"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("apex::fused_rms_norm_affine",)
    summary = "Use torch.nn.RMSNorm"
    references: ClassVar[tuple[str, ...]] = FusedLayerNormByLayerNorm.references
    replace: ClassVar[Callable[..., Any]] = staticmethod(fused_rms_norm_affine)

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without weight."""
        dtype = draw.choose(FLOATS[:2])
        x = draw.tensor(draw.shape(2, 4, smallest=2), (dtype,), edges=False)
        shape = list(x.shape[-1:])
        weight = draw.tensor(shape, (dtype,), edges=False) if draw.flag() else None
        return (x, weight, shape, draw.choose((1e-6, 1e-3))), {}


class CausalConv1dByConv1d(Rule):
    """``conv1d`` with a group for each channel and zeros in front, cut off at the last position."""

    name = "causal-conv1d-by-conv1d"
    label = Label.TOLERANCE
    tolerance = 64.0
    replaces: ClassVar[tuple[str, ...]] = ("causal_conv1d::causal_conv1d_fn",)
    summary = "Call conv1d with padding=width - 1 and groups=dim, and cut the end off"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/Dao-AILab/causal-conv1d/blob/main/causal_conv1d/causal_conv1d_interface.py",
    )
    replace: ClassVar[Callable[..., Any]] = staticmethod(causal_conv1d_fn)

    def refuses(self, call: Call) -> str:
        """Decline sequences packed into one, and states from before."""
        if call.given("seq_idx") is not None:
            return "several sequences lie in one"
        if call.given("initial_states") is not None:
            return "it goes on from states"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without a bias and an activation."""
        dtype, dim, width = draw.choose(FLOATS[:2]), draw.integer(1, 4), draw.integer(2, 4)
        shape = (draw.integer(1, 2), dim, draw.integer(1, 6))
        x = draw.tensor(shape, (dtype,), edges=False)
        weight = draw.tensor((dim, width), (dtype,), edges=False)
        bias = draw.tensor((dim,), (dtype,), edges=False) if draw.flag() else None
        return (x, weight, bias), {"activation": draw.choose((None, "silu", "swish"))}
