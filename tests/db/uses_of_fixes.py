"""Uses that advisories are about which fixes between releases told of, and others beside."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import HALF, permuted

TURNED = TensorMeta("float32", (2, 3), (1, 2))
IMAGES = permuted(4, 96, 8, 8, dtype=HALF)
USES: dict[str, tuple[Node, set[str]]] = {
    "adding at indices in half precision": (
        node("aten::index_put_", self=dense(9, dtype=HALF), accumulate=True),
        {"xpu-index-put-half"},
    ),
    "writing at indices": (
        node("aten::index_put_", self=dense(9, dtype=HALF), accumulate=False), set(),
    ),
    "adding at indices": (node("aten::index_put_", self=dense(9), accumulate=True), set()),
    "gradients of tanh in half precision": (
        node("aten::tanh_backward", output=dense(9, dtype=HALF)), {"xpu-tanh-gradients-half"},
    ),
    "gradients of tanh": (node("aten::tanh_backward", output=dense(9)), set()),
    "gradients of hardtanh within 0.7": (
        node("aten::hardtanh_backward", self=dense(9, dtype=HALF), min_val=-1.0, max_val=0.7),
        {"xpu-hardtanh-gradients-bounds"},
    ),
    "gradients of ReLU6": (
        node("aten::hardtanh_backward", self=dense(9, dtype=HALF), min_val=0.0, max_val=6.0),
        set(),
    ),
    "statistics in float64": (
        node("aten::native_batch_norm", input=dense(4, 3, 8, 8, dtype="float64"), training=True),
        {"xpu-batch-norm-float64"},
    ),
    "statistics in float32": (
        node("aten::native_batch_norm", input=dense(4, 3, 8, 8), training=True), set(),
    ),
    "statistics of 96 channels": (
        node("aten::native_batch_norm", input=IMAGES, training=True),
        {"xpu-batch-norm-channels-last"},
    ),
    "96 channels by known statistics": (
        node("aten::native_batch_norm", input=IMAGES, training=False), set(),
    ),
    "statistics of 64 channels": (
        node("aten::batch_norm_stats", input=permuted(4, 64, 8, 8, dtype=HALF)), set(),
    ),
    "chunks of a transposed tensor": (
        node("aten::_chunk_cat", tensors=(dense(2, 3), TURNED)), {"xpu-chunk-cat-layout"},
    ),
    "chunks": (node("aten::_chunk_cat", tensors=(dense(2, 3), dense(4, 3))), set()),
}  # fmt: skip
