"""Which operators autocast casts for, its cache of weights, and the dtypes that a call gets.

Which operators autocast casts for, and how, as torch registers them for CUDA. Names and policies
are those of ``aten/src/ATen/autocast_mode.h`` and ``autocast_mode.cpp`` of torch 2.13.0, which
vendors take over for their own device, whole or in part. ``tests/emulate/test_autocast.py`` holds
them against the installed torch.

The dtypes in which autocast hands a composite's tensors on to what it is made of. Autocast casts
where an operator of its lists is called. A composite that is in none of them, as ``nll_loss_nd``,
arrives uncast, and what it runs as is cast: ``nll_loss`` to float32. What a table of the vendor's
says of the composite's dtypes is then a matter of those.

Checked on torch 2.13.0: ``torch.autocast`` calls ``torch.clear_autocast_cache`` when its outermost
region ends, and finds it by that name.
"""

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from enum import StrEnum
from threading import RLock
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor

from opcheck.model.trace import TensorMeta, Value
from opcheck.trace.calls.signature import Call


class Policy(StrEnum):
    """What autocast does to the arguments of an operator."""

    LOWER_PRECISION = "lower_precision_fp"
    """Casts them to the dtype of the autocast region."""
    FP32 = "fp32"
    """Casts them to float32."""
    FP32_SET_OPT_DTYPE = "fp32_set_opt_dtype"
    """Asks for a float32 output, unless the caller asks for a dtype."""
    FP32_APPEND_DTYPE = "fp32_append_dtype"
    """Calls the overload that takes an output dtype, with float32."""
    PROMOTE = "promote"
    """Casts them to the widest dtype among them."""
    BANNED = "banned"
    """Raises."""


_NAMES = {
    Policy.LOWER_PRECISION: """
        _convolution _convolution.deprecated _scaled_dot_product_flash_attention
        _thnn_fused_gru_cell _thnn_fused_lstm_cell addbmm addmm addmv addr baddbmm bmm chain_matmul
        conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input
        conv_transpose3d.input convolution cudnn_convolution cudnn_convolution_transpose einsum
        gru_cell linalg_multi_dot linalg_vecdot linear lstm_cell matmul mm mv prelu rnn_relu_cell
        rnn_tanh_cell scaled_dot_product_attention
    """,
    Policy.FP32: """
        _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d
        _upsample_nearest_exact2d _upsample_nearest_exact3d acos asin
        binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss cosine_similarity dist
        erfinv exp expm1 frobenius_norm.dim group_norm hinge_embedding_loss huber_loss kl_div
        l1_loss layer_norm log log10 log1p log2 logsumexp margin_ranking_loss mse_loss
        multi_margin_loss multilabel_margin_loss native_layer_norm nll_loss nll_loss2d nuclear_norm
        nuclear_norm.dim pdist poisson_nll_loss pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor
        reciprocal renorm rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss softplus tan
        triplet_margin_loss upsample_bicubic2d upsample_bilinear2d upsample_linear1d
        upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d
    """,
    Policy.FP32_SET_OPT_DTYPE: """
        cumprod cumsum linalg_matrix_norm linalg_matrix_norm.str_ord linalg_vector_norm
        log_softmax.int prod prod.dim_int softmax.int sum sum.dim_IntList
    """,
    Policy.FP32_APPEND_DTYPE: "norm.Scalar norm.ScalarOpt_dim",
    Policy.PROMOTE: """
        addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot
    """,
    Policy.BANNED: "binary_cross_entropy",
}

UPSTREAM: Mapping[str, tuple[str, ...]] = {
    policy: tuple(f"aten::{name}" for name in names.split()) for policy, names in _NAMES.items()
}
"""Policy -> overloads in schema spelling."""


class Casts:
    """Casts the device's floating-point tensors, weights once for each autocast region."""

    def __init__(self, device_type: str) -> None:
        self._device_type = device_type
        self._weights: dict[int, tuple[Tensor, Tensor]] = {}
        self._lock = RLock()

    def takes(self, tensor: Tensor) -> bool:
        """Whether autocast concerns itself with it."""
        return (
            tensor.device.type == self._device_type
            and tensor.is_floating_point()
            and tensor.dtype != torch.float64
        )

    def region(self) -> torch.dtype:
        """What the autocast region computes in."""
        return torch.get_autocast_dtype(self._device_type)

    def cast(self, value: Any, to: torch.dtype) -> Any:
        """Cast a tensor, or the tensors of a list; anything else stays as it is."""
        if isinstance(value, list | tuple):
            return [self.cast(item, to) for item in value]
        if not isinstance(value, Tensor) or not self.takes(value) or value.dtype == to:
            return value
        return self._weight(value, to) if self._is_kept(value, to) else value.to(to)

    def _is_kept(self, tensor: Tensor, to: torch.dtype) -> bool:
        return (
            to == self.region()
            and tensor.dtype == torch.float32
            and tensor.requires_grad
            and tensor.is_leaf
            and not tensor._is_view()
            and torch.is_autocast_cache_enabled()
            and not torch.is_inference_mode_enabled()
        )

    def _weight(self, tensor: Tensor, to: torch.dtype) -> Tensor:
        with self._lock:
            kept = self._weights.get(id(tensor))
            if kept is None:
                with torch.enable_grad():  # a later use may want the gradient
                    # the weight is kept as well: its id must not be given to another tensor
                    kept = self._weights[id(tensor)] = (tensor, tensor.to(to))
            return kept[1]

    @contextmanager
    def cleared_with_torchs(self) -> Iterator[None]:
        """Forget the weights whenever torch forgets those that its own kernels cast."""
        clear = torch.clear_autocast_cache

        def clear_both() -> None:
            self._weights.clear()
            clear()

        torch.clear_autocast_cache = clear_both
        try:
            yield
        finally:
            torch.clear_autocast_cache = clear
            self._weights.clear()


_CASTS = ("aten::_to_copy", "aten::to", "aten::copy_", "aten::_copy_from")
"""What a cast is, or runs as."""


class Reached:
    """Which floating-point dtypes reach the calls that a composite makes under autocast."""

    def __init__(self) -> None:
        self._open: list[set[str]] = []

    @contextmanager
    def watched(self, casting: bool) -> Iterator[set[str]]:
        """Gather inside the block; nothing where autocast casts nothing there."""
        found: set[str] = set()
        if not casting:
            yield found
            return
        self._open.append(found)
        try:
            yield found
        finally:
            self._open.pop()

    def note(self, call: Call) -> None:
        """A call of what a composite is made of."""
        if self._open and call.func.name().partition(".")[0] not in _CASTS:
            dtypes = {_name(tensor.dtype) for tensor in call.tensors if tensor.is_floating_point()}
            for found in self._open:
                found |= dtypes


def handed_on(
    arguments: tuple[tuple[str, Value], ...], reached: Set[str]
) -> tuple[tuple[str, Value], ...]:
    """Arguments of a composite in the dtypes that ``reached`` what it runs as."""
    if not reached:
        return arguments
    given = max(reached, key=lambda name: getattr(torch, name).itemsize)

    def cast(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(cast, value))
        if not isinstance(value, TensorMeta) or value.dtype in reached:
            return value
        if value.dtype not in _CAST:
            return value
        return replace(value, dtype=given, offset=0)  # a cast makes a new tensor

    return tuple((name, cast(value)) for name, value in arguments)


_CAST = ("float16", "bfloat16", "float32")
"""What autocast concerns itself with."""


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
