"""Uses that advisories for NVIDIA and AMD alone are about, and others beside."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving, permuted

NORM, NORM_BACKWARD = "aten::native_layer_norm", "aten::native_layer_norm_backward"
NEAREST_BACKWARD = "aten::upsample_nearest2d_backward"
USES: dict[str, tuple[Node, set[str]]] = {
    "a roll of 2**32 elements": (
        node("aten::roll", self=dense(2**16, 2**16), dims=(1,)), {"rocm-roll-large"},
    ),
    "a roll of half as many": (node("aten::roll", self=dense(2**15, 2**16), dims=(1,)), set()),
    "gradients of one image of 2**32 pixels": (
        giving(NEAREST_BACKWARD, dense(1, 1, 2**16, 2**16)), {"rocm-upsample-gradients-launch"},
    ),
    "gradients of two images of 2**31": (
        giving(NEAREST_BACKWARD, dense(2, 1, 2**15, 2**16)), set(),
    ),
    "rows of a table, 2**31 elements together": (
        giving("aten::embedding", dense(131072, 16384), weight=dense(16032, 16384)),
        {"rocm-embedding-large"},
    ),
    "one row fewer": (
        giving("aten::embedding", dense(131071, 16384), weight=dense(16032, 16384)), set(),
    ),
    "a triangle of 2**32 of float64": (
        node("aten::triu", self=dense(2**16, 2**16, dtype="float64")), {"rocm-triangle-large"},
    ),
    "a triangle of 2**32 of float32": (node("aten::triu", self=dense(2**16, 2**16)), set()),
    "144 million rows of 16": (
        node(NORM, input=dense(16, 3000, 3000, 16)), {"rocm-layer-norm-launch"},
    ),
    "9 million rows of 16": (node(NORM, input=dense(1, 3000, 3000, 16)), set()),
    "eigenvalues of a large matrix": (
        node("aten::_linalg_eigh", A=dense(8192, 8192, dtype="float64")), {"rocm-eigh-large"},
    ),
    "the same in float32": (node("aten::_linalg_eigh", A=dense(8192, 8192)), set()),
    "numbers in order beyond 2**32": (
        giving("aten::arange", dense(2**32 + 5, dtype="int64")),
        {"cuda-arange-large", "rocm-arange-launch"},
    ),
    "numbers in order": (giving("aten::arange", dense(2**31, dtype="int64")), set()),
    "layer_norm over more than 2**32 elements": (
        node(NORM, input=dense(2**20 + 1, 4096)), {"cuda-layer-norm-large"},
    ),
    "the same over rows of odd length": (node(NORM, input=dense(2**20 + 512, 4095)), set()),
    "pooling of a large channels-last tensor": (
        node("aten::max_pool2d_with_indices", self=permuted(70, 64, 512, 960)),
        {"cuda-max-pool-large"},
    ),
    "pooling of it in order": (
        node("aten::max_pool2d_with_indices", self=dense(70, 64, 512, 960)), set(),
    ),
    "gradients of layer_norm over two dimensions": (
        node(NORM_BACKWARD, input=dense(100000, 8, 16), weight=dense(8, 16), bias=dense(8, 16)),
        {"cuda-layer-norm-shape-gradients"},
    ),
    "gradients of layer_norm without a weight": (
        node(NORM_BACKWARD, input=dense(100000, 128), bias=dense(128)),
        {"cuda-layer-norm-shape-gradients"},
    ),
    "gradients of layer_norm over one dimension": (
        node(NORM_BACKWARD, input=dense(100000, 128), weight=dense(128), bias=dense(128)), set(),
    ),
}  # fmt: skip
