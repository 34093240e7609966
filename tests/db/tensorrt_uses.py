"""Uses that advisories of Torch-TensorRT are about, told by its code, and others beside."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import HALF, giving

SDPA = "aten::scaled_dot_product_attention"
QUERY = dense(1, 4, 8, 16)
MASK = dense(4, 5, dtype="bool")
INDEX = dense(7, dtype="int64")
USES: dict[str, tuple[Node, set[str]]] = {
    "means at indices": (
        node("aten::scatter_reduce.two", self=dense(4), reduce="mean"),
        {"tensorrt-scatter-reduce-mean"},
    ),
    "sums at indices": (node("aten::scatter_reduce.two", self=dense(4), reduce="sum"), set()),
    "means of integers": (
        node("aten::scatter_reduce.two", self=dense(4, dtype="int64"), reduce="mean"), set(),
    ),
    "logarithms of probabilities in half precision": (
        giving("aten::_log_softmax", dense(2, 9, dtype=HALF), self=dense(2, 9, dtype=HALF)),
        {"tensorrt-log-softmax-half"},
    ),
    "those made float32": (
        giving("aten::_log_softmax", dense(2, 9), self=dense(2, 9, dtype=HALF)), set(),
    ),
    "statistics of the batch": (
        node("aten::native_batch_norm", running_mean=dense(3), training=True),
        {"tensorrt-batch-norm-training"},
    ),
    "running statistics": (
        node("aten::native_batch_norm", running_mean=dense(3), training=False), set(),
    ),
    "bags with padding": (
        node("aten::_embedding_bag", weight=dense(9, 3), padding_idx=0),
        {"tensorrt-embedding-bag-padding"},
    ),
    "bags": (node("aten::_embedding_bag", weight=dense(9, 3), padding_idx=-1), set()),
    "bags by default": (node("aten::_embedding_bag", weight=dense(9, 3)), set()),
    "a number for a column": (
        node("aten::copy_", self=dense(2, 3), src=dense()), {"tensorrt-copy-shape"},
    ),
    "a row for each row": (
        node("aten::copy_", self=dense(2, 3), src=dense(1, 3)), {"tensorrt-copy-shape"},
    ),
    "a copy": (node("aten::copy_", self=dense(2, 3), src=dense(2, 3)), set()),
    "accumulating at indices": (
        node("aten::index_put", self=dense(9), indices=(INDEX,), accumulate=True),
        {"tensorrt-index-put-accumulate"},
    ),
    "adding rows": (
        node("aten::index_add", self=dense(9, 3), index=INDEX), {"tensorrt-index-put-accumulate"},
    ),
    "putting at indices": (
        node("aten::index_put", self=dense(9), indices=(INDEX,), accumulate=False), set(),
    ),
    "a mask of two dimensions": (
        node("aten::index.Tensor", self=dense(4, 5), indices=(MASK,)),
        {"tensorrt-index-mask-rank"},
    ),
    "a mask of one": (
        node("aten::index.Tensor", self=dense(4, 5), indices=(dense(4, dtype="bool"),)), set(),
    ),
    "a column beside a row": (
        node("aten::sub.Tensor", self=dense(3, 1), other=dense(1, 4)),
        {"tensorrt-mutual-broadcast"},
    ),
    "a row beside a column": (
        node("aten::sub.Tensor", self=dense(2, 1, 4), other=dense(3, 1)),
        {"tensorrt-mutual-broadcast"},
    ),
    "a column beside a table": (
        node("aten::sub.Tensor", self=dense(3, 1), other=dense(3, 4)), set(),
    ),
    "half precision times a number of float32": (
        node("aten::mul.Tensor", self=dense(4, 8, dtype=HALF), other=dense()),
        {"tensorrt-scalar-tensor-promotion"},
    ),
    "the number first": (
        node("aten::mul.Tensor", self=dense(), other=dense(4, 8, dtype=HALF)),
        {"tensorrt-scalar-tensor-promotion"},
    ),
    "a number of half precision": (
        node("aten::mul.Tensor", self=dense(4, 8, dtype=HALF), other=dense(dtype=HALF)), set(),
    ),
    "an exponential of complex numbers": (
        node("aten::exp", self=dense(4, dtype="complex64")), {"tensorrt-complex-parts"},
    ),
    "an exponential of real ones": (node("aten::exp", self=dense(4)), set()),
    "a quotient of complex numbers": (
        node("aten::div.Tensor", self=dense(dtype="complex64"), other=dense(dtype="complex64")),
        {"tensorrt-complex-parts"},
    ),
    "half of complex numbers": (
        node("aten::div.Tensor", self=dense(4, dtype="complex64"), other=2), set(),
    ),
    "a product of complex numbers": (
        node("aten::prod.dim_int", self=dense(4, dtype="complex64"), dim=0),
        {"tensorrt-complex-parts", "tensorrt-complex-products-along"},
    ),
    "a real number beside complex ones": (
        node("aten::add.Tensor", self=dense(4, dtype="complex64"), other=dense()),
        {"tensorrt-complex-parts", "tensorrt-complex-beside-real"},
    ),
    "complex numbers from real ones": (
        node("aten::sub.Tensor", self=dense(4), other=dense(4, dtype="complex64")),
        {"tensorrt-complex-parts", "tensorrt-complex-beside-real"},
    ),
    "a real power of complex numbers": (
        node("aten::pow.Tensor_Tensor", self=dense(4, dtype="complex64"), exponent=dense(4)),
        {"tensorrt-complex-parts", "tensorrt-complex-beside-real"},
    ),
    "attention under a mask": (
        node(SDPA, query=QUERY, key=QUERY, value=QUERY, attn_mask=dense(8, 8)),
        {"tensorrt-attention-mask-dropped"},
    ),
    "attention of float64 under a mask": (
        node(SDPA, query=dense(1, 4, 8, 16, dtype="float64"), attn_mask=dense(8, 8)), set(),
    ),
    "attention of no heads under a mask": (
        node(SDPA, query=dense(4, 8, 16), attn_mask=dense(8, 8)), set(),
    ),
    "attention without a mask": (
        node(SDPA, query=QUERY, key=QUERY, value=QUERY, attn_mask=None), set(),
    ),
    "the kernel of attention under a mask": (
        node("aten::_scaled_dot_product_efficient_attention", query=QUERY, attn_bias=dense(8, 8)),
        {"tensorrt-attention-mask-dropped"},
    ),
}  # fmt: skip
