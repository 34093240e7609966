"""Calls of neural networks' operators on Apple GPUs, and the advisories that they meet."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node

TURNED = TensorMeta("float32", (2, 3), (1, 2))
LAST = TensorMeta("float32", (2, 3, 4, 4), (48, 1, 12, 3))
EXPANDED = TensorMeta("float32", (64, 1), (0, 0))
HEADS = TensorMeta("float32", (2, 2, 3, 64), (384, 64, 128, 1))
SDPA = "aten::scaled_dot_product_attention"
USES: dict[str, tuple[Node, set[str]]] = {
    "the gradient of sigmoid": (
        node("aten::sigmoid_backward", grad_output=dense(2, 3), output=TURNED),
        {"mps-sigmoid-gradients-layout"},
    ),
    "the gradient of sigmoid in order": (
        node("aten::sigmoid_backward", grad_output=dense(2, 3), output=dense(2, 3)), set(),
    ),
    "the gradient of mish": (
        node("aten::mish_backward", self=TURNED),
        {"mps-sigmoid-gradients-layout", "mps-gelu-layout"},
    ),
    "the gradient of relu": (
        node("aten::threshold_backward", self=TURNED), {"mps-tanh-gradients-layout"},
    ),
    "the gradient of tanh": (
        node("aten::tanh_backward", output=TURNED), {"mps-tanh-gradients-layout"},
    ),
    "the gradient of SiLU": (
        node("aten::silu_backward", self=TURNED), {"mps-silu-gradients-layout"},
    ),
    "threshold of a transpose": (
        node("aten::threshold", self=TURNED), {"mps-softplus-layout", "mps-softplus-old-macos"},
    ),
    "GELU of a transpose": (node("aten::gelu", self=TURNED), {"mps-gelu-layout"}),
    "a gradient of batch norm": (
        node("aten::native_batch_norm_backward", input=LAST), {"mps-batch-norm-gradients-layout"},
    ),
    "a gradient of batch norm in order": (
        node("aten::native_batch_norm_backward", input=dense(2, 3, 4, 4)), set(),
    ),
    "a gradient of an average": (
        node("aten::avg_pool2d_backward", grad_output=dense(2, 3, 2, 2), self=LAST),
        {"mps-pool-gradients-layout"},
    ),
    "a gradient of an average in the same order": (
        node("aten::avg_pool2d_backward", grad_output=LAST, self=LAST), set(),
    ),
    "gradients of weights alone": (
        node("aten::native_layer_norm_backward", output_mask=(False, True, True)),
        {"mps-layer-norm-gradients-frozen"},
    ),
    "all gradients": (
        node("aten::native_layer_norm_backward", output_mask=(True, True, True)),
        set(),
    ),
    "a transposed grid": (
        node(
            "aten::grid_sampler_3d", input=dense(1, 1, 2, 2, 2),
            grid=TensorMeta("float32", (1, 2, 2, 2, 3), (24, 4, 2, 1, 8)),
        ),
        {"mps-grid-sampler-3d-layout"},
    ),
    "a gradient of a convolution in another order": (
        node("aten::convolution_backward", grad_output=LAST), {"mps-conv-gradients-layout"},
    ),
    "a gradient of a padded batch": (
        node("aten::replication_pad1d_backward", self=dense(65536, 2, 4)),
        {"mps-replication-pad-gradients"},
    ),
    "padded in time": (
        replace(
            node("aten::constant_pad_nd", self=dense(1, 3, 9, 256, 544)),
            outputs=(dense(1, 3, 11, 256, 544),),
        ),
        {"mps-pad-large"},
    ),
    "padded in space": (
        replace(
            node("aten::constant_pad_nd", self=dense(1, 3, 9, 256, 544)),
            outputs=(dense(1, 3, 9, 258, 546),),
        ),
        set(),
    ),
    "small frames padded in time": (
        replace(
            node("aten::constant_pad_nd", self=dense(1, 3, 9, 64, 64)),
            outputs=(dense(1, 3, 11, 64, 64),),
        ),
        set(),
    ),
    "fewer heads of keys": (
        node(SDPA, query=dense(1, 4, 9, 64), key=dense(1, 2, 9, 64), enable_gqa=True),
        {"mps-attention-gqa"},
    ),
    "as many heads of keys": (
        node(SDPA, query=dense(1, 4, 9, 64), key=dense(1, 4, 9, 64), enable_gqa=True), set(),
    ),
    "many matrices and a bias": (
        node("aten::linear", input=dense(65537, 2, 8), weight=dense(6, 8), bias=dense(6)),
        {"mps-linear-bias-batch", "mps-linear-bias-m1"},
    ),
    "many matrices": (node("aten::linear", input=dense(65537, 2, 8), weight=dense(6, 8)), set()),
    "permuted queries of two batches": (
        node(SDPA, query=HEADS, key=dense(2, 2, 3, 64), value=dense(2, 2, 3, 64)),
        {"mps-attention-permuted", "mps-attention-query-layout", "mps-attention-few-queries"},
    ),
    "many queries and keys": (
        node(SDPA, query=dense(1, 4, 32768, 64), key=dense(1, 4, 32769, 64)),
        {"mps-attention-scores-large"},
    ),
    "as many queries for one head": (
        node(SDPA, query=dense(1, 1, 32768, 64), key=dense(1, 1, 32769, 64)), set(),
    ),
    "attention of five dimensions": (
        node(SDPA, query=dense(3, 5, 4, 49, 32)), {"mps-attention-five-dimensions"},
    ),
    "linear of five dimensions": (
        node("aten::linear", input=dense(2, 1, 2, 1, 2)), {"mps-linear-five-dimensions"},
    ),
    "gradients of linear of five dimensions": (
        node("aten::linear_backward", grad_output=dense(2, 1, 2, 1, 4), weight=dense(4, 2)),
        {"mps-linear-gradients-five-dimensions"},
    ),
    "a vector as weight": (
        node("aten::linear_backward", grad_output=dense(8), weight=dense(3)),
        {"mps-linear-gradients-vector"},
    ),
    "an expanded gradient of one output": (
        node("aten::linear_backward", grad_output=EXPANDED, weight=dense(1, 33)),
        {"mps-linear-gradients-expanded"},
    ),
    "an expanded gradient of two outputs": (
        node("aten::linear_backward", grad_output=EXPANDED, weight=dense(2, 33)), set(),
    ),
    "an expanded column": (
        node("aten::mm", self=EXPANDED, mat2=dense(1, 16)), {"mps-mm-expanded"},
    ),
    "a transposed weight in bfloat16": (
        node(
            "aten::linear", input=dense(2, 3, 2, dtype="bfloat16"),
            weight=replace(TURNED, dtype="bfloat16"),
        ),
        {"mps-linear-weight-transposed", "mps-linear-layout", "mps-linear-half-m5"},
    ),
    "a transposed loss": (
        node("aten::mse_loss", self=TURNED, target=TURNED, reduction=0), {"mps-mse-layout"},
    ),
    "a transposed loss in one number": (
        node("aten::mse_loss", self=TURNED, target=TURNED, reduction=1), set(),
    ),
    "a wide product": (
        replace(
            node("aten::mm", self=dense(1025, 1), mat2=dense(1, 32769)),
            outputs=(dense(1025, 32769),),
        ),
        {"mps-mm-large"},
    ),
    "a long product of a layer": (
        node("aten::linear", input=dense(16, 32769), weight=dense(16, 32769)),
        {"mps-long-product"},
    ),
    "a long batched product": (
        node("aten::bmm", self=dense(2, 16, 32767), mat2=dense(2, 32767, 16)),
        {"mps-long-batched-product"},
    ),
    "a long batched sum": (
        node("aten::baddbmm", batch1=dense(2, 16, 32767), batch2=dense(2, 32767, 16)),
        {"mps-long-batched-product"},
    ),
    "a huge product of a transpose": (
        replace(
            node(
                "aten::bmm", self=dense(65552, 256, 64),
                mat2=TensorMeta("float32", (65552, 64, 256), (16384, 1, 64)),
            ),
            outputs=(dense(65552, 256, 256),),
        ),
        {"mps-bmm-huge-layout", "mps-bmm-results-huge"},
    ),
    "batch norm of channels_last_3d": (
        node(
            "aten::native_batch_norm",
            input=TensorMeta("float32", (2, 3, 4, 4, 4), (192, 1, 48, 12, 3)),
        ),
        {"mps-batch-norm-3d-layout"},
    ),
    "linear interpolation to the corners": (
        node("aten::upsample_linear1d", self=dense(3, 1, 1), align_corners=True),
        {"mps-upsample-linear-corners"},
    ),
    "linear interpolation": (
        node("aten::upsample_linear1d", self=dense(3, 1, 1), align_corners=False), set(),
    ),
    "a convolution in space and time": (
        node("aten::conv3d", input=dense(1, 4, 8, 8, 8), weight=dense(4, 4, 3, 3, 3)),
        {"mps-conv3d-macos-26"},
    ),
    "gradients of padded words": (
        node("aten::embedding_dense_backward", padding_idx=0, scale_grad_by_freq=False),
        {"mps-embedding-gradients"},
    ),
    "gradients of frequent words": (
        node("aten::embedding_dense_backward", padding_idx=-1, scale_grad_by_freq=True),
        {"mps-embedding-gradients"},
    ),
    "gradients of words": (
        node("aten::embedding_dense_backward", padding_idx=-1, scale_grad_by_freq=False), set(),
    ),
    "gradients of frequent bags": (
        node("aten::_embedding_bag_dense_backward", scale_grad_by_freq=True),
        {"mps-embedding-bag-frequency"},
    ),
    "gradients of a column of losses": (
        node("aten::binary_cross_entropy_backward", self=dense(4, 5, 1), reduction=0),
        {"mps-binary-cross-entropy-ones", "mps-binary-cross-entropy-broadcast"},
    ),
    "gradients of a square of losses": (
        node("aten::binary_cross_entropy_backward", self=dense(4, 4, 1), reduction=0),
        {"mps-binary-cross-entropy-ones"},
    ),
    "gradients of a mean of losses": (
        node("aten::binary_cross_entropy_backward", self=dense(4, 5, 1), reduction=1), set(),
    ),
    "a loss in half precision": (
        node("aten::binary_cross_entropy", self=dense(3, dtype="float16")),
        {"mps-binary-cross-entropy-half"},
    ),
    "an LSTM in both directions": (
        node("aten::lstm.input", bidirectional=True), {"mps-lstm-bidirectional"},
    ),
    "layer norm of two dtypes": (
        node(
            "aten::native_layer_norm", input=dense(2, 3, dtype="bfloat16"), weight=dense(3),
        ),
        {"mps-layer-norm-mixed"},
    ),
    "layer norm in half precision": (
        node(
            "aten::native_layer_norm", input=dense(2, 3, dtype="bfloat16"),
            weight=dense(3, dtype="bfloat16"),
        ),
        set(),
    ),
    "batch norm of two dtypes": (
        node(
            "aten::native_batch_norm", input=dense(2, 3, 4, dtype="float16"),
            running_mean=dense(3),
        ),
        {"mps-batch-norm-mixed"},
    ),
    "an LSTM with dropout": (
        node("aten::lstm.input", dropout=0.5, num_layers=2, train=True, bidirectional=False),
        {"mps-lstm-dropout"},
    ),
    "an LSTM with dropout in use": (
        node("aten::lstm.input", dropout=0.5, num_layers=2, train=False, bidirectional=False),
        set(),
    ),
    "averages up to the border": (
        node("aten::avg_pool2d", self=dense(1, 2, 5, 5), ceil_mode=True), {"mps-avg-pool-ceil"},
    ),
    "the nearest of 20 for 11": (
        node("aten::_upsample_nearest_exact1d", self=dense(1, 1, 20), output_size=(11,)),
        {"mps-upsample-nearest-exact"},
    ),
    "the nearest of 20 for 40": (
        node("aten::_upsample_nearest_exact1d", self=dense(1, 1, 20), output_size=(40,)), set(),
    ),
    "the nearest of 20 rows for 11": (
        node("aten::_upsample_nearest_exact2d", self=dense(1, 1, 20, 5), output_size=(11, 10)),
        {"mps-upsample-nearest-exact"},
    ),
    "a grid on channels_last": (
        node("aten::grid_sampler_2d", input=LAST), {"mps-grid-sampler-2d-layout"},
    ),
    "the gradient of a weighted loss": (
        node(
            "aten::nll_loss_backward", self=dense(2, 3, dtype="bfloat16"), weight=dense(3),
        ),
        {"mps-nll-loss-mixed"},
    ),
    "attention with dropout": (
        node(SDPA, query=dense(1, 2, 16, 64), value=dense(1, 2, 16, 64), dropout_p=0.5),
        {"mps-attention-dropout"},
    ),
    "attention without dropout": (
        node(SDPA, query=dense(1, 2, 16, 64), value=dense(1, 2, 16, 64), dropout_p=0.0), set(),
    ),
    "a boolean mask for few queries": (
        node(
            "aten::_scaled_dot_product_attention_math_for_mps", query=dense(1, 2, 8, 64),
            key=dense(1, 2, 512, 64), value=dense(1, 2, 512, 64),
            attn_mask=dense(8, 512, dtype="bool"), dropout_p=0.0,
        ),
        {"mps-attention-few-queries", "mps-attention-mask-order", "mps-attention-masked-rows"},
    ),
    "a product without its input": (
        node("aten::baddbmm", self=dense(2, 3, 3), beta=0), {"mps-baddbmm-beta"},
    ),
    "a product with its input": (node("aten::baddbmm", self=dense(2, 3, 3), beta=1), set()),
    "a product into columns": (node("aten::mm.out", out=TURNED), {"mps-mm-out-strided"}),
    "a convolution of channels_last_3d": (
        node(
            "aten::conv3d", input=TensorMeta("float32", (2, 3, 4, 4, 4), (192, 1, 48, 12, 3)),
            weight=dense(3, 3, 3, 3, 3),
        ),
        {"mps-conv3d-layout"},
    ),
    "layer norm with a slice as bias": (
        node(
            "aten::native_layer_norm", input=dense(2, 3), weight=dense(3),
            bias=TensorMeta("float32", (3,), (2,)),
        ),
        {"mps-layer-norm-bias-layout"},
    ),
    "a long depthwise kernel": (
        node(
            "aten::conv2d", input=dense(2, 8, 256, 100), weight=dense(16, 1, 256, 1), groups=8,
        ),
        {"mps-conv-kernel-large"},
    ),
    "a long kernel": (
        node(
            "aten::conv2d", input=dense(2, 8, 256, 100), weight=dense(16, 8, 256, 1), groups=1,
        ),
        set(),
    ),
    "the gradient of an LSTM": (
        node("aten::lstm_mps_backward", input=TensorMeta("float32", (4, 2, 5), (5, 20, 1))),
        {"mps-lstm-gradients-layout", "mps-lstm-gradients-macos"},
    ),
    "the gradient of a long signal": (
        node("aten::reflection_pad1d_backward", self=dense(1, 1, 70000)),
        {"mps-reflection-pad-gradients"},
    ),
    "the gradient of a signal": (
        node("aten::reflection_pad1d_backward", self=dense(1, 1, 131072)), set(),
    ),
    "layer norm of half precision": (
        node(
            "aten::native_layer_norm", input=dense(2, 3, dtype="float16"),
            weight=dense(3, dtype="float16"), bias=dense(3, dtype="float16"),
        ),
        {"mps-layer-norm-half"},
    ),
    "pooling of many elements": (
        node("aten::max_pool2d", self=dense(34, 1, 8192, 8192, dtype="float16")),
        {"mps-pool-large"},
    ),
    "averages of many elements up to the border": (
        node(
            "aten::avg_pool2d", self=dense(34, 1, 8192, 8192, dtype="float16"), ceil_mode=True,
        ),
        {"mps-pool-large", "mps-avg-pool-ceil"},
    ),
    "unpooling to many elements": (
        replace(node("aten::max_unpool2d"), outputs=(dense(34, 1, 8192, 8192),)),
        {"mps-max-unpool-large"},
    ),
    "folding many columns": (
        node("aten::col2im", self=dense(1, 65537, 65537)), {"mps-col2im-large"},
    ),
    "a product with a huge operand": (
        node("aten::bmm", self=dense(65552, 256, 256), mat2=dense(65552, 256, 64)),
        {"mps-bmm-huge-operand"},
    ),
}  # fmt: skip
