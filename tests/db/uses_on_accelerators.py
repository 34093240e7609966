"""Uses that advisories for Intel, Google, AMD and NVIDIA TensorRT are about, and others beside."""

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, TensorMeta, Value
from tests.db.calls import dense, node


def giving(op: str, result: TensorMeta, **arguments: Value) -> Node:
    """A call of an operator, and what it returns."""
    return replace(node(op, **arguments), outputs=(result,))


def permuted(*shape: int, dtype: str = "float32") -> TensorMeta:
    """A tensor whose second dimension lies innermost: channels-last."""
    moved = dense(shape[0], *shape[2:], shape[1])
    return TensorMeta(dtype, shape, (moved.stride[0], moved.stride[-1], *moved.stride[1:-1]))


HALF, HUGE = "float16", 2**31
SDPA = "aten::scaled_dot_product_attention"
USES: dict[str, tuple[Node, set[str]]] = {
    "adaptive pooling of channels-last volumes": (
        node("aten::_adaptive_avg_pool3d", self=permuted(2, 4, 3, 3, 3)),
        {"xpu-adaptive-avg-pool3d-layout"},
    ),
    "adaptive pooling of one of them": (
        node("aten::_adaptive_avg_pool3d", self=permuted(1, 4, 3, 3, 3)), set(),
    ),
    "gradients of a distance of p = 0.5": (
        node("aten::_cdist_backward", x1=dense(3, 4), p=0.5), {"xpu-cdist-gradients"},
    ),
    "gradients of a distance of p = 1": (node("aten::_cdist_backward", p=1.0), set()),
    "gradients of a distance of p = 2": (node("aten::_cdist_backward", p=2.0), set()),
    "integers below three billion": (
        node("aten::randint", high=3_000_000_000), {"xpu-randint-wide"},
    ),
    "integers below a thousand": (node("aten::randint", high=1000), set()),
    "half precision to float8": (
        node("aten::_to_copy", self=dense(4, dtype=HALF), dtype=Constant("dtype", "float8_e5m2")),
        {"xpu-float8-negative-zero"},
    ),
    "float32 to float8": (
        node("aten::_to_copy", self=dense(4), dtype=Constant("dtype", "float8_e5m2")), set(),
    ),
    "max pooling of a huge image": (
        node("aten::max_pool2d_with_indices", self=dense(1, HUGE)), {"xpu-max-pool2d-large"},
    ),
    "max pooling of an image": (
        node("aten::max_pool2d_with_indices", self=dense(1, 3, 224, 224)), set(),
    ),
    "max pooling of a huge volume": (
        node("aten::max_pool3d_with_indices", self=dense(1, HUGE)), {"xpu-pool3d-large"},
    ),
    "average pooling of a huge image": (
        node("aten::avg_pool2d", self=dense(1, HUGE)), {"xpu-avg-pool2d-large"},
    ),
    "a loss of huge inputs": (
        node("aten::nll_loss_forward", self=dense(2**16, 2**15)), {"xpu-nll-loss-large"},
    ),
    "interpolation to a huge image": (
        giving("aten::upsample_nearest2d", dense(1, HUGE)), {"xpu-upsample-nearest-large"},
    ),
    "a CTC loss": (node("aten::_ctc_loss", log_probs=dense(5, 2, 9)), {"xpu-ctc-loss"}),
    "gradients by frequency": (
        node("aten::embedding_dense_backward", scale_grad_by_freq=True),
        {"xpu-embedding-frequency"},
    ),
    "gradients of an embedding": (
        node("aten::embedding_dense_backward", scale_grad_by_freq=False), set(),
    ),
    "topk along many": (
        node("aten::topk", self=dense(2, 4096), k=50, dim=-1),
        {"xpu-topk-resources", "xpu-topk-race", "xpu-topk-max"},
    ),
    "topk along fewer": (
        node("aten::topk", self=dense(2, 4095), k=50, dim=-1), {"xpu-topk-max"},
    ),
    "many of topk": (
        node("aten::topk", self=dense(2, 4096), k=257, dim=-1), {"xpu-topk-max"},
    ),
    "where a tensor is not zero": (
        node("aten::nonzero", self=dense(4)), {"xpu-nonzero-driver"},
    ),
    "many queries to few keys": (
        node(
            SDPA, query=dense(2, 10, 4096, 128, dtype=HALF), key=dense(2, 10, 77, 128, dtype=HALF)
        ),
        {"xpu-attention-short-keys"},
    ),
    "as many keys as queries": (
        node(
            SDPA, query=dense(2, 9, 4096, 128, dtype=HALF), key=dense(2, 9, 4096, 128, dtype=HALF)
        ),
        set(),
    ),
    "a mask of four dimensions": (
        node(
            SDPA, query=dense(1, 14, 33, 64, dtype=HALF), key=dense(1, 14, 129, 64, dtype=HALF),
            attn_mask=dense(1, 1, 33, 129, dtype=HALF),
        ),
        {
            "xpu-attention-mask-rank", "xpu-attention-masked-rows", "rocm-attention-mask",
            "rocm-attention-math",
        },
    ),
    "a mask of two": (
        node(
            SDPA, query=dense(1, 14, 33, 64, dtype=HALF), key=dense(1, 14, 129, 64, dtype=HALF),
            attn_mask=dense(33, 129, dtype=HALF),
        ),
        {"rocm-attention-mask", "rocm-attention-math"},
    ),
    "gradients over one position": (
        node(
            "aten::convolution_backward", grad_output=dense(8, 4, 1, 1), input=dense(8, 4, 1, 1),
            weight=permuted(4, 4, 3, 3),
        ),
        {"xpu-conv-layout"},
    ),
    "gradients over many positions": (
        node(
            "aten::convolution_backward", grad_output=dense(8, 4, 5, 5), input=dense(8, 4, 5, 5),
            weight=permuted(4, 4, 3, 3),
        ),
        set(),
    ),
    "normalization of nothing": (
        node("aten::native_layer_norm", input=dense(0, 3)), {"xpu-empty-tensors"},
    ),
    "a scan of nothing": (
        node("aten::_cummin_helper", self=dense(0, 3)), {"xpu-empty-tensors"},
    ),
    "nothing added to a vector": (
        node("aten::index_add", self=dense(4), index=dense(0, dtype="int64")),
        {"xpu-index-add-empty"},
    ),
    "nothing added to a matrix": (
        node("aten::index_add", self=dense(4, 2), index=dense(0, dtype="int64")), set(),
    ),
    "a huge softmax": (
        node("aten::_softmax", self=dense(65536, 65536)), {"xpu-softmax-large"},
    ),
    "a softmax": (node("aten::_softmax", self=dense(64, 64)), set()),
    "reciprocals of integers": (
        node("aten::reciprocal", self=dense(4, dtype="int64")), {"tpu-reciprocal-integers"},
    ),
    "reciprocals": (node("aten::reciprocal", self=dense(4)), set()),
    "the place of the largest of all": (
        node("aten::argmax", self=dense(2, 3), keepdim=True), {"tpu-argmax-keepdim"},
    ),
    "the place along a dimension": (
        node("aten::argmax", self=dense(2, 3), dim=1, keepdim=True), set(),
    ),
    "counting in bfloat16": (
        giving("aten::arange", dense(512, dtype="bfloat16"), end=512),
        {"tensorrt-arange-floats", "tpu-arange-half"},
    ),
    "counting in float16": (
        giving("aten::arange", dense(512, dtype=HALF), end=512), {"tensorrt-arange-floats"},
    ),
    "a fraction to the power of integers": (
        node("aten::pow.Scalar", self=2.5, exponent=dense(4, dtype="int64")),
        {"tpu-pow-scalar-base"},
    ),
    "two to the power of integers": (
        node("aten::pow.Scalar", self=2, exponent=dense(4, dtype="int64")), set(),
    ),
    "bfloat16 to the power of 3.0": (
        node("aten::pow.Tensor_Scalar", self=dense(4, dtype="bfloat16"), exponent=3.0),
        {"tpu-pow-half"},
    ),
    "bfloat16 squared": (
        node("aten::pow.Tensor_Scalar", self=dense(4, dtype="bfloat16"), exponent=2), set(),
    ),
    "full of an integer": (
        giving("aten::full", dense(2, dtype="int64"), fill_value=3), {"tpu-full-integers"},
    ),
    "full of an integer as float32": (
        giving("aten::full", dense(2), fill_value=3, dtype=Constant("dtype", "float32")), set(),
    ),
    "a running maximum": (node("aten::cummax", self=dense(4), dim=0), {"tpu-cummax-index"}),
    "wide heads": (
        node(
            SDPA, query=dense(1, 1, 99, 384, dtype=HALF), key=dense(1, 1, 99, 384, dtype=HALF)
        ),
        {"rocm-attention-head-gfx11", "rocm-attention-math"},
    ),
    "heads of 256": (
        node(
            SDPA, query=dense(1, 1, 99, 256, dtype=HALF), key=dense(1, 1, 99, 256, dtype=HALF)
        ),
        {"rocm-attention-math"},
    ),
    "memory-efficient attention under a mask": (
        node(
            "aten::_scaled_dot_product_efficient_attention",
            query=dense(1, 1, 7, 64, dtype=HALF), attn_bias=dense(1, 1, 7, 7, dtype=HALF),
        ),
        {"rocm-attention-mask"},
    ),
    "memory-efficient attention": (
        node(
            "aten::_scaled_dot_product_efficient_attention",
            query=dense(1, 1, 7, 64, dtype=HALF), attn_bias=None,
        ),
        set(),
    ),
    "channels-last interpolation to a huge image": (
        giving(
            "aten::upsample_nearest2d", permuted(1, 4, 2**15, 2**15),
            self=permuted(1, 4, 2**14, 2**14),
        ),
        {
            "rocm-upsample-nearest-large", "xpu-upsample-nearest-large",
            "xpu-upsample-nearest-layout-large",
        },
    ),
    "a convolution of many images": (
        node("aten::convolution", input=dense(16384, 3, 14, 14), weight=dense(1024, 3, 14, 14)),
        {"rocm-convolution-many"},
    ),
    "a convolution of fewer": (
        node("aten::convolution", input=dense(16383, 3, 14, 14), weight=dense(1024, 3, 14, 14)),
        set(),
    ),
    "a scaled product to float8": (
        node(
            "aten::_scaled_mm", out_dtype=Constant("dtype", "float8_e4m3fn"),
            scale_result=dense(),
        ),
        {"scaled-mm-result-scale"},
    ),
    "a scaled product to bfloat16": (
        node("aten::_scaled_mm", out_dtype=Constant("dtype", "bfloat16"), scale_result=dense()),
        set(),
    ),
    "a bilinear grid": (
        node("aten::grid_sampler", interpolation_mode=0), {"tensorrt-grid-sample-modes"},
    ),
    "a bicubic grid": (node("aten::grid_sampler", interpolation_mode=2), set()),
    "a choice between bfloat16": (
        node(
            "aten::where.self", condition=dense(4, dtype="bool"),
            self=dense(4, dtype="bfloat16"), other=dense(4, dtype="bfloat16"),
        ),
        {"tensorrt-where-bfloat16"},
    ),
    "a choice between bfloat16 and float32": (
        node(
            "aten::where.self", condition=dense(4, dtype="bool"),
            self=dense(4, dtype="bfloat16"), other=dense(4),
        ),
        set(),
    ),
    "full_like of another dtype": (
        node("aten::full_like", self=dense(4), dtype=Constant("dtype", "int64")),
        {"tensorrt-full-like-dtype"},
    ),
    "full_like": (node("aten::full_like", self=dense(4)), set()),
    "a linear layer over four dimensions": (
        node("aten::linear", input=dense(1, 2, 3, 8, dtype="bfloat16"), weight=dense(8, 8)),
        {"tensorrt-linear-4d"},
    ),
    "a linear layer over three": (
        node("aten::linear", input=dense(2, 3, 8, dtype="bfloat16"), weight=dense(8, 8)), set(),
    ),
    "a median along a long dimension": (
        node("aten::median.dim", self=dense(4, 5000), dim=1), {"xpu-median", "xpu-median-slow"},
    ),
    "a median along a short one": (
        node("aten::median.dim", self=dense(4, 5000), dim=0), {"xpu-median-slow"},
    ),
    "powers of two": (node("aten::ldexp.Tensor", self=dense(4), other=dense(4)), {"xpu-ldexp"}),
    "a Kaiser window": (node("aten::kaiser_window", window_length=51), {"xpu-kaiser-window"}),
    "antialiased interpolation to a large image": (
        giving("aten::_upsample_bilinear2d_aa", dense(1, 3, 640, 480), self=dense(1, 3, 64, 48)),
        {"onnx-antialiased-upsample", "xpu-upsample-antialias"},
    ),
    "antialiased interpolation to a small one": (
        giving("aten::_upsample_bilinear2d_aa", dense(1, 3, 224, 640), self=dense(1, 3, 64, 48)),
        {"onnx-antialiased-upsample"},
    ),
    "the mean loss of many rows in half precision": (
        node("aten::nll_loss_forward", self=dense(8192, 10, dtype=HALF), reduction=1),
        {"xpu-nll-loss-half"},
    ),
    "the losses of many rows in half precision": (
        node("aten::nll_loss_forward", self=dense(8192, 10, dtype=HALF), reduction=0), set(),
    ),
    "distances of many rows": (node("aten::_pdist_forward", self=dense(5000, 2)), {"xpu-pdist"}),
    "distances of few": (node("aten::_pdist_forward", self=dense(500, 2)), set()),
    "solving many systems": (
        node("aten::_linalg_solve_ex", A=dense(65537, 3, 3), B=dense(65537, 3, 1)),
        {"rocm-linalg-batch"},
    ),
    "solving a large one": (
        node("aten::_linalg_solve_ex", A=dense(70000, 70000), B=dense(70000, 1)), set(),
    ),
    "a quotient of complex numbers": (
        node(
            "aten::div.Tensor",
            self=dense(4, dtype="complex64"), other=dense(4, dtype="complex64"),
        ),
        {"tpu-complex-division"},
    ),
    "half of complex numbers": (
        node("aten::div.Tensor", self=dense(4, dtype="complex64"), other=2),
        {"tpu-complex-division"},
    ),
    "an integer by complex numbers": (
        node("aten::div.Tensor", self=dense(4, dtype="int64"), other=dense(4, dtype="complex64")),
        {"tpu-complex-division"},
    ),
    "complex numbers by real ones": (
        node("aten::div.Tensor", self=dense(4, dtype="complex64"), other=dense(4)), set(),
    ),
    "gradients of ELU": (
        node("aten::elu_backward", alpha=1.0, is_result=False, self_or_result=dense(4)),
        {"tpu-elu-gradients"},
    ),
    "gradients of ELU in place": (
        node("aten::elu_backward", alpha=1.0, is_result=True, self_or_result=dense(4)), set(),
    ),
    "dropping a tenth": (
        node("aten::native_dropout", input=dense(4), p=0.1, train=True), {"tpu-native-dropout"},
    ),
    "dropping a half": (node("aten::native_dropout", input=dense(4), p=0.5, train=True), set()),
    "dropping nothing": (node("aten::native_dropout", input=dense(4), p=0.1, train=False), set()),
    "random slopes": (node("aten::rrelu_with_noise", training=True), {"tpu-rrelu"}),
    "mean slopes": (node("aten::rrelu_with_noise", training=False), set()),
    "the largest magnitude": (
        node("aten::norm.ScalarOpt_dim", self=dense(4), p=float("inf")), {"tpu-norm-infinite"},
    ),
    "the length": (node("aten::norm.ScalarOpt_dim", self=dense(4), p=2), set()),
    "a clamped logit": (node("aten::logit", self=dense(4), eps=1e-6), {"tpu-logit-range"}),
    "a logit": (node("aten::logit", self=dense(4), eps=None), set()),
    "normalising few rows": (
        node("aten::native_batch_norm", input=dense(8, 4), training=True),
        {"tpu-batch-norm-variance"},
    ),
    "normalising images": (
        node("aten::native_batch_norm", input=dense(8, 4, 9, 9), training=True), set(),
    ),
    "a running sum of integers": (
        node("aten::cumsum", self=dense(4, dtype="int64"), dim=0),
        {"tensorrt-cumsum-integers", "tensorrt-cumsum-float64"},
    ),
    "a running sum": (node("aten::cumsum", self=dense(4), dim=0), {"tensorrt-cumsum-float64"}),
    "a running sum of one number": (node("aten::cumsum", self=dense(), dim=0), set()),
    "a running sum of integers to floats": (
        node("aten::cumsum", self=dense(dtype="int64"), dim=0, dtype="float32"), set(),
    ),
    "counting in floats": (
        giving("aten::arange.start_step", dense(10), start=0, end=1, step=0.1),
        {"tensorrt-arange-floats"},
    ),
    "counting": (giving("aten::arange", dense(9, dtype="int64"), end=9), set()),
    "a sum to float32": (
        node("aten::sum", self=dense(4, dtype=HALF), dtype="float32"),
        {"tensorrt-reduction-dtype"},
    ),
    "a sum of small integers": (
        node("aten::sum.dim_IntList", self=dense(4, dtype="int32"), dim=(0,)),
        {"tensorrt-reduction-dtype"},
    ),
    "a sum of half precision": (node("aten::sum", self=dense(4, dtype=HALF)), set()),
    "a mean to float32": (
        node("aten::mean.dim", self=dense(4, dtype=HALF), dim=(0,), dtype="float32"),
        {"tensorrt-reduction-dtype"},
    ),
    "gradients of a huge softmax": (
        node("aten::_softmax_backward_data", grad_output=dense(1, HUGE)),
        {"xpu-softmax-gradients-large"},
    ),
    "gradients of a softmax": (
        node("aten::_softmax_backward_data", grad_output=dense(8, 8)), set(),
    ),
    "gradients of averages of a huge image": (
        node("aten::_adaptive_avg_pool2d_backward", self=dense(1, HUGE)),
        {"xpu-adaptive-avg-pool2d-gradients"},
    ),
    "gradients of averages of a huge channels-last image": (
        node("aten::_adaptive_avg_pool2d_backward", self=permuted(2, 2, 2, HUGE)), set(),
    ),
    "gradients of maxima of a huge channels-last image": (
        node("aten::max_pool2d_with_indices_backward", self=permuted(2, 2, 2, HUGE)),
        {"xpu-max-pool2d-gradients"},
    ),
    "gradients of maxima of a huge image": (
        node("aten::max_pool2d_with_indices_backward", self=dense(1, HUGE)), set(),
    ),
    "a range in bfloat16": (
        node("aten::_fused_moving_avg_obs_fq_helper", running_min=dense(1, dtype="bfloat16")),
        {"xpu-fused-fake-quant-dtypes"},
    ),
    "observing half precision": (
        node(
            "aten::fused_moving_avg_obs_fake_quant", self=dense(4, dtype=HALF),
            running_min=dense(1),
        ),
        {"xpu-fused-fake-quant-mixed"},
    ),
    "a boolean switch": (
        node("aten::_fused_moving_avg_obs_fq_helper", observer_on=dense(1, dtype="bool")),
        {"xpu-fused-fake-quant-dtypes"},
    ),
    "observing float32": (
        node("aten::_fused_moving_avg_obs_fq_helper", self=dense(4), running_min=dense(1)), set(),
    ),
    "the triangle of an immense matrix": (
        node("aten::tril", self=dense(100_000, 100_000)), {"xpu-triangle-large"},
    ),
    "the triangle of an immense matrix of half precision": (
        node("aten::triu", self=dense(100_000, 100_000, dtype=HALF)), set(),
    ),
    "a sum of complex halves": (
        node("aten::sum", self=dense(4, dtype="complex32")), {"xpu-sum-complex-half"},
    ),
    "gradients of layer_norm over two small dimensions": (
        node(
            "aten::native_layer_norm_backward", input=dense(70000, 2, 4), mean=dense(70000),
            weight=dense(2, 4), bias=dense(2, 4),
        ),
        {"xpu-layer-norm-gradients-shape"},
    ),
    "gradients of layer_norm over two small dimensions of fewer rows": (
        node(
            "aten::native_layer_norm_backward", input=dense(60000, 2, 4), mean=dense(60000),
            weight=dense(2, 4), bias=dense(2, 4),
        ),
        set(),
    ),
    "a mask for every head of grouped queries": (
        node(
            SDPA, query=dense(3, 8, 8, 64, dtype=HALF), key=dense(3, 2, 8, 64, dtype=HALF),
            attn_mask=dense(3, 8, 8, 8, dtype=HALF),
        ),
        {
            "xpu-attention-gqa-mask", "xpu-attention-gqa-mask-heads", "xpu-attention-masked-rows",
            "rocm-attention-mask", "rocm-attention-math",
        },
    ),
    "one mask for all heads of grouped queries": (
        node(
            SDPA, query=dense(3, 8, 8, 64, dtype=HALF), key=dense(3, 2, 8, 64, dtype=HALF),
            attn_mask=dense(3, 1, 8, 8, dtype=HALF),
        ),
        {"rocm-attention-mask", "rocm-attention-math"},
    ),
    "a product with a vector of float64": (
        node("aten::addmv_", self=dense(4, dtype="float64")), {"xpu-products-float64"},
    ),
    "a sum with half a product of float64": (
        node("aten::addmm", self=dense(4, 4, dtype="float64"), alpha=0.5), {"xpu-products-float64"},
    ),
    "a sum with a product of float64": (
        node("aten::addmm", self=dense(4, 4, dtype="float64")), set(),
    ),
    "noise in another order": (
        node(
            "aten::rrelu_with_noise", self=permuted(2, 3, 4, 4), noise=permuted(2, 3, 4, 4),
            training=True,
        ),
        {"xpu-layout-ignored"},
    ),
    "noise in order": (
        node(
            "aten::rrelu_with_noise", self=dense(2, 3, 4, 4), noise=dense(2, 3, 4, 4),
            training=True,
        ),
        set(),
    ),
    "one row by int4 in groups of 128": (
        node("aten::_weight_int4pack_mm", self=dense(1, 4096, dtype=HALF), qGroupSize=128),
        {"xpu-int4-one-row"},
    ),
    "two rows by int4 in groups of 128": (
        node("aten::_weight_int4pack_mm", self=dense(2, 4096, dtype=HALF), qGroupSize=128), set(),
    ),
    "a cell with one bias": (
        node("aten::_thnn_fused_lstm_cell", input_bias=None, hidden_bias=dense(4)),
        {"xpu-lstm-cell-bias"},
    ),
    "a cell without biases": (node("aten::_thnn_fused_lstm_cell", input_bias=None), set()),
    "interpolation to a huge line": (
        giving("aten::upsample_nearest1d", dense(1, HUGE)), {"xpu-upsample-nearest1d-large"},
    ),
    "factors of a batch": (
        node("aten::linalg_cholesky_ex", self=dense(64, 9, 9, dtype="float64")),
        {"rocm-cholesky-batch"},
    ),
    "factors of a matrix": (
        node("aten::linalg_cholesky_ex", self=dense(9, 9, dtype="float64")), set(),
    ),
    "inverses of a large batch of factors": (
        node("aten::cholesky_inverse", self=dense(20, 425, 425, dtype="float64")),
        {"rocm-cholesky-inverse-batch"},
    ),
    "inverses of a batch of factors": (
        node("aten::cholesky_inverse", self=dense(16, 425, 425, dtype="float64")), set(),
    ),
}  # fmt: skip
