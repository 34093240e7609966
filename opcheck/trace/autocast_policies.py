"""Which operators autocast casts for, and how, as torch registers them for CUDA.

Names and policies are those of ``aten/src/ATen/autocast_mode.h`` and ``autocast_mode.cpp`` of torch
2.13.0, which vendors take over for their own device, whole or in part.
``tests/emulate/test_autocast.py`` holds them against the installed torch.
"""

from collections.abc import Mapping
from enum import StrEnum


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
