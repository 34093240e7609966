"""Kernels whose strides differ from their meta function's."""

_ALWAYS = """
    _batch_norm_impl_index _batch_norm_with_update _embedding_bag _embedding_bag_forward_only
    _fft_c2c _fft_c2r _fft_r2c _linalg_svd _native_batch_norm_legit
    _native_batch_norm_legit.no_stats batch_norm embedding_bag.padding_idx fft_hfft fft_hfft2
    fft_hfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft2 fft_rfftn linalg_eig linalg_svd
    native_batch_norm scaled_dot_product_attention svd
"""
_IF_PERMUTED = """
    _convolution _convolution.deprecated _convolution_mode _log_softmax_backward_data
    binary_cross_entropy channel_shuffle conv1d conv1d.padding conv2d conv2d.padding
    conv_transpose1d conv_transpose2d.input convolution convolution_backward
    convolution_backward_overrideable convolution_overrideable copysign.Tensor div.Scalar
    div.Tensor_mode floor_divide hardswish_backward hardtanh_backward heaviside ldexp.Tensor
    log_sigmoid log_sigmoid_forward logaddexp logical_and logical_or logical_xor logit_backward
    max_pool1d max_unpool2d mul.Scalar native_dropout_backward native_layer_norm_backward
    normal.Tensor_Tensor one_hot pad pixel_shuffle pow.Scalar reflection_pad2d reflection_pad3d
    replication_pad2d replication_pad2d_backward replication_pad3d slow_conv_transpose2d
    special_xlog1py xlogy.Tensor
"""
CPU_ALWAYS = frozenset(f"aten::{name}" for name in _ALWAYS.split())
"""Overloads whose meta function gives other strides, or sizes, than the CPU kernel."""
CPU_IF_PERMUTED = frozenset(f"aten::{name}" for name in _IF_PERMUTED.split())
"""The same, but only for tensors that are not laid out row by row.

Both were measured over PyTorch's operator samples, plain and permuted, with their gradients, on
torch 2.13.0; ``tests/trace/test_strides.py`` repeats it.
"""
