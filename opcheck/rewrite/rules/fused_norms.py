"""Normalizations and short convolutions of libraries that a target has not, by PyTorch's own."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


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
