"""Uses that advisories for PyTorch's CUDA code are about, and others beside."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving, permuted

POOL_BACKWARD, POOL = "aten::avg_pool2d_backward", "aten::max_pool2d_with_indices"
IMAGES, BYTES = permuted(2, 8, 16, 16), 2**31 - 2
USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of padded windows": (
        node(POOL_BACKWARD, self=IMAGES, padding=(1, 1)), {"cuda-avg-pool-gradients-padding"},
    ),
    "gradients of windows": (node(POOL_BACKWARD, self=IMAGES, padding=(0, 0)), set()),
    "gradients of padded windows in order": (
        node(POOL_BACKWARD, self=dense(2, 8, 16, 16), padding=(1, 1)), set(),
    ),
    "ten integers between others": (
        giving("aten::linspace", dense(10, dtype="int64"), steps=10), {"cuda-linspace-integers"},
    ),
    "the two ends": (giving("aten::linspace", dense(2, dtype="int64"), steps=2), set()),
    "ten floats": (giving("aten::linspace", dense(10), steps=10), set()),
    "holes of 2**31 - 1": (
        node(POOL, self=dense(1, 1, 8, 8), dilation=(2**31 - 1,)), {"cuda-pool-dilation-large"},
    ),
    "holes": (node(POOL, self=dense(1, 1, 8, 8), dilation=(3, 3)), set()),
    "coins": (
        node("aten::random_.from", self=dense(BYTES, dtype="int8")), {"cuda-random-bytes-large"},
    ),
    "coins as int32": (node("aten::random_.from", self=dense(BYTES, dtype="int32")), set()),
    "two halves of coins": (
        node("aten::random_.from", self=dense(2**32, dtype="int8")), set(),
    ),
    "two of four large rows": (
        node("aten::index.Tensor", self=dense(4, 87, 1056, 736, dtype="int64")),
        {"cuda-index-rows-large"},
    ),
    "small rows": (
        node("aten::index.Tensor", self=dense(400, 87, 1056, 7, dtype="int64")), set(),
    ),
    "a huge average": (
        giving("aten::_adaptive_avg_pool2d", dense(40, 1, 67108607), self=dense(40, 40, 40)),
        {"cuda-adaptive-pool-large"},
    ),
    "an average": (
        giving("aten::_adaptive_avg_pool2d", dense(40, 1, 1), self=dense(40, 40, 40)), set(),
    ),
    "all factors of a wide matrix": (
        node("aten::_linalg_svd", A=dense(1024, 50000), full_matrices=True), {"cuda-svd-large"},
    ),
    "a huge matrix": (
        node("aten::_linalg_svd", A=dense(300000, 10000), full_matrices=False),
        {"cuda-svd-large"},
    ),
    "the factors of a wide matrix that are needed": (
        node("aten::_linalg_svd", A=dense(1024, 50000), full_matrices=False), set(),
    ),
    "a convolution of float32": (
        node("aten::cudnn_convolution", self=dense(1, 8, 9, 9), groups=1), {"cuda-conv-tf32"},
    ),
    "a transposed convolution of float32": (
        node("aten::cudnn_convolution_transpose", self=dense(1, 8, 9, 9), groups=1),
        {"cuda-conv-tf32"},
    ),
    "a convolution of float32 by channel": (
        node("aten::_conv_depthwise2d", self=dense(1, 8, 9, 9)), set(),
    ),
    "a convolution of float16": (
        node("aten::cudnn_convolution", self=dense(1, 8, 9, 9, dtype="float16"), groups=1), set(),
    ),
}  # fmt: skip
