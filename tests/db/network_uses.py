"""Calls of neural networks' operators on Apple GPUs, and the advisories that they meet."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node

TURNED = TensorMeta("float32", (2, 3), (1, 2))
LAST = TensorMeta("float32", (2, 3, 4, 4), (48, 1, 12, 3))
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
        {"mps-linear-bias-batch"},
    ),
    "many matrices": (node("aten::linear", input=dense(65537, 2, 8), weight=dense(6, 8)), set()),
}  # fmt: skip
