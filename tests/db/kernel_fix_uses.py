"""Calls that advisories are about which fixes of kernels and threads tell of, and others beside."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import HALF, SDPA, giving, permuted

GROUPED, NORM, UPDATE = (
    "aten::_grouped_mm", "aten::native_batch_norm", "aten::batch_norm_update_stats"
)  # fmt: skip
UNPOOL, PAD, NEAREST, BMM = (
    "aten::max_unpool2d",
    "aten::replication_pad2d",
    "aten::upsample_nearest3d",
    "aten::bmm",
)
EXACT, EXACT2 = "_upsample_nearest_exact3d_backward", "_upsample_nearest_exact2d_backward"
DOUBLE, MANY = "float64", 2**18 + 1
LONG, LONGER = dense(1, 1, 2**16, 8, dtype=HALF), dense(1, 1, 2**16 + 1, 8, dtype=HALF)
SCORES = dense(2**16 + 1, 2**16 + 1)
ODD, EVEN = dense(2, 4, 32, 5, dtype=HALF), dense(2, 4, 32, 6, dtype=HALF)
APART = TensorMeta(HALF, (2, 4, 32, 5), (640, 5, 20, 1))
"""Heads of an odd size, cut from rows of four heads."""
NONE, COLUMNS = dense(0, 4, 4), TensorMeta("bfloat16", (4, 16, 256), (5120, 1, 20))
GRADIENTS = "aten::_scaled_dot_product_efficient_attention_backward"
STATS = {"running_mean": dense(3), "running_var": dense(3, dtype="bfloat16")}


def _drawn(op: str, count: int, dtype: str) -> Node:
    return giving(f"aten::{op}", dense(count, dtype=dtype))


def _attention(shape: tuple[int, ...], dtype: str = "float32") -> Node:
    rows = dense(*shape, dtype=dtype)
    return node(SDPA, query=rows, key=rows, value=rows)


USES: dict[str, tuple[Node, set[str]]] = {
    "many random numbers in float64": (
        _drawn("rand", MANY, DOUBLE), {"xpu-random-double-repeats"},
    ),
    "many random numbers in float32": (_drawn("rand", MANY, "float32"), set()),
    "fewer random numbers in float64": (_drawn("normal_", MANY - 1, DOUBLE), set()),
    "lists with a huge tensor": (
        node("aten::_foreach_addcdiv_.ScalarList", self=(dense(9), dense(2**31))),
        {"xpu-foreach-large"},
    ),
    "lists with a large tensor": (
        node("aten::_foreach_addcdiv_.ScalarList", self=(dense(9), dense(2**31 - 1))), set(),
    ),
    "fused Adam of a huger tensor": (
        node("aten::_fused_adamw_", self=(dense(2**32),)), {"xpu-foreach-large"},
    ),
    "fused Adam of a huge tensor": (node("aten::_fused_adamw_", self=(dense(2**31),)), set()),
    "a huge volume": (
        giving(NEAREST, dense(1, 1, 2, 2**15, 2**15), self=dense(1, 1, 1, 2**14, 2**14)),
        {"xpu-upsample-nearest3d-large"},
    ),
    "a large volume": (
        giving(NEAREST, dense(1, 1, 1, 2**15, 2**15), self=dense(1, 1, 1, 2**14, 2**14)), set(),
    ),
    "gradients of a huge volume": (
        node(f"aten::{EXACT}", grad_output=dense(2, 1, 2**10, 2**10, 2**10)),
        {"xpu-upsample-nearest3d-large"},
    ),
    "topk of a huge row": (
        node("aten::topk", self=dense(2, 2**31), k=300), {"xpu-topk-long", "xpu-topk-max"},
    ),
    "attention of a long sequence": (_attention((1, 1, 32769, 8)), {"xpu-attention-float32-long"}),
    "attention of sixteen heads": (_attention((1, 16, 8193, 8)), {"xpu-attention-float32-long"}),
    "attention of fifteen heads": (_attention((1, 15, 8193, 8)), set()),
    "attention of a long sequence in half": (_attention((1, 1, 32769, 8), HALF), set()),
    "heads of five": (_attention(ODD.shape, HALF), {"xpu-attention-odd-rows"}),
    "heads of five, twenty apart": (node(SDPA, query=APART, key=APART, value=APART), set()),
    "keys of five": (node(SDPA, query=EVEN, key=ODD, value=EVEN), {"xpu-attention-odd-rows"}),
    "heads of six": (_attention(EVEN.shape, HALF), set()),
    "heads of five in float32": (_attention(ODD.shape), set()),
    "a mask of more than 2**32": (
        node(SDPA, query=LONGER, key=LONGER, value=LONGER, attn_mask=SCORES),
        {"cuda-attention-mask-long"},
    ),
    "a mask of 2**32": (
        node(SDPA, query=LONG, key=LONG, value=LONG, attn_mask=dense(2**16, 2**16)), set(),
    ),
    "no mask": (node(SDPA, query=LONGER, key=LONGER, value=LONGER), set()),
    "the FFT of no signals": (node("aten::_fft_r2c", self=NONE, dim=(2,)), {"fft-empty-batch"}),
    "the FFT of a signal": (node("aten::_fft_r2c", self=dense(1, 4, 4), dim=(2,)), set()),
    "the FFT of real halves": (
        node("aten::fft_rfft2", self=dense(4, 4, dtype="float16")), {"fft-half"},
    ),
    "the FFT of real numbers": (node("aten::fft_rfft2", self=dense(4, 4)), set()),
    "the inverse FFT of complex halves": (
        node("aten::fft_ifft", self=dense(4, 4, dtype="complex32")), set(),
    ),
    "a grouped product over nothing": (
        node(GROUPED, self=dense(224, 0, dtype="bfloat16"), mat2=dense(4, 0, 256)),
        {"cuda-grouped-mm-empty"},
    ),
    "a grouped product": (
        node(GROUPED, self=dense(224, 8, dtype="bfloat16"), mat2=dense(4, 8, 256)), set(),
    ),
    "a grouped product of rows of 12": (
        node(GROUPED, self=dense(224, 12, dtype="bfloat16"), mat2=dense(4, 12, 256)),
        {"cuda-grouped-mm-strides"},
    ),
    "a grouped product with columns of 12": (
        node(GROUPED, self=dense(224, 16, dtype="bfloat16"), mat2=COLUMNS),
        {"cuda-grouped-mm-strides"},
    ),
    "a grouped product of rows of 12 in float32": (
        node(GROUPED, self=dense(224, 12), mat2=dense(4, 12, 256)), set(),
    ),
    "gradients of a mask alone": (
        node(GRADIENTS, query=LONG, logsumexp=dense(1, 1, 0)),
        {"cuda-attention-mask-alone-gradients"},
    ),
    "gradients of attention": (node(GRADIENTS, query=LONG, logsumexp=dense(1, 1, 32)), set()),
    "running statistics of two dtypes": (
        node(NORM, input=dense(2, 3), training=True, **STATS), {"cuda-batch-norm-running-dtypes"},
    ),
    "statistics of two dtypes are updated": (
        node(UPDATE, input=dense(2, 3), **STATS), {"cuda-batch-norm-running-dtypes"},
    ),
    "known statistics of two dtypes": (
        node(NORM, input=dense(2, 3), training=False, **STATS), set(),
    ),
    "running statistics of one dtype": (
        node(NORM, input=dense(2, 3), training=True, running_mean=dense(3), running_var=dense(3)),
        set(),
    ),
    "unpooling to nothing": (
        giving(UNPOOL, dense(1, 1, 0, 4), self=dense(1, 1, 2, 2)), {"max-unpool-empty"},
    ),
    "unpooling of nothing": (giving(UNPOOL, dense(1, 0, 4, 4), self=dense(1, 0, 2, 2)), set()),
    "padding to a huge plane": (
        giving(PAD, dense(1, 2**16, 2**15), self=dense(1, 2**16 - 2, 2**15 - 2)),
        {"cuda-replication-pad-large"},
    ),
    "padding to a huge plane of a batch": (
        giving(PAD, dense(1, 1, 2**16, 2**15), self=dense(1, 1, 2**16 - 2, 2**15 - 2)),
        {"cuda-replication-pad-large"},
    ),
    "padding to two large planes": (
        giving(PAD, dense(2, 2**15, 2**15), self=dense(2, 2**15 - 2, 2**15 - 2)), set(),
    ),
    "a product of many small matrices": (
        node(BMM, self=dense(18670176, 3, 3), mat2=dense(18670176, 3, 1)),
        {"rocm-bmm-many", "rocm-gfx1100-products"},
    ),
    "a product of small matrices": (
        node(BMM, self=dense(2**23, 3, 3), mat2=dense(2**23, 3, 1)), {"rocm-gfx1100-products"},
    ),
}  # fmt: skip


HISTC, BILINEAR, RRELU, LINSPACE = (
    "aten::histc", "aten::upsample_bilinear2d", "aten::rrelu_with_noise", "aten::linspace"
)  # fmt: skip
EMBEDDING, WIDE = "aten::embedding_dense_backward", (8, 16, 2**12, 2**12)
ROWS, POW, SAMPLED = (
    dense(3, dtype="int64"), "aten::pow.Tensor_Scalar", "aten::sparse_sampled_addmm"
)  # fmt: skip
SHARED: dict[str, tuple[Node, set[str]]] = {
    "unpooling to a huge plane": (
        node(UNPOOL, self=dense(1, 1, 2, 2), output_size=(2**16, 2**15)), {"xpu-max-unpool-large"},
    ),
    "unpooling to a plane": (node(UNPOOL, self=dense(1, 1, 2, 2), output_size=(4, 4)), set()),
    "padding to a huge plane on XPU": (
        giving(PAD, dense(1, 2**16, 2**15), self=dense(1, 2**16 - 2, 2**15 - 2)),
        {"xpu-replication-pad-large"},
    ),
    "padding a plane": (giving(PAD, dense(1, 6, 6), self=dense(1, 4, 4)), set()),
    "integers in steps": (
        giving(LINSPACE, dense(9, dtype="int64"), start=0, end=99, steps=9),
        {"xpu-linspace-integers"},
    ),
    "numbers in steps": (giving(LINSPACE, dense(9), start=0, end=99, steps=9), set()),
    "two integers": (giving(LINSPACE, dense(2, dtype="int64"), start=0, end=99, steps=2), set()),
    "counts of 257 in bfloat16": (
        node(HISTC, self=dense(257, dtype="bfloat16")), {"xpu-histc-half"},
    ),
    "counts of 257 in float16": (node(HISTC, self=dense(257, dtype=HALF)), set()),
    "counts of 2049 in float16": (node(HISTC, self=dense(2049, dtype=HALF)), {"xpu-histc-half"}),
    "counts of 2**25": (node(HISTC, self=dense(2**25)), {"xpu-histc-counts"}),
    "counts of 2**24": (node(HISTC, self=dense(2**24)), set()),
    "gradients without a width": (
        node(EMBEDDING, grad_output=dense(3, 0), indices=ROWS), {"xpu-embedding-empty"},
    ),
    "gradients of no rows": (
        node(EMBEDDING, grad_output=dense(0, 0), indices=dense(0, dtype="int64")), set(),
    ),
    "a huge image of sixteen channels": (
        giving(BILINEAR, permuted(*WIDE), self=permuted(8, 16, 2**11, 2**11)),
        {"xpu-upsample-bilinear-layout-large"},
    ),
    "a huge image of fifteen channels": (
        giving(BILINEAR, permuted(16, 15, 2**12, 2**12), self=permuted(16, 15, 2**11, 2**11)),
        set(),
    ),
    "a huge image in order": (giving(BILINEAR, dense(*WIDE), self=dense(8, 16, 8, 8)), set()),
    "gradients of a huge image": (
        node(f"aten::{EXACT2}", grad_output=permuted(*WIDE)),
        {"xpu-upsample-nearest-gradients-layout-large"},
    ),
    "gradients of a huge image in order": (
        node(f"aten::{EXACT2}", grad_output=dense(*WIDE)), set(),
    ),
    "a huge sequence": (
        giving("aten::upsample_nearest1d", dense(2, 2, 2**29), self=dense(2, 2, 2**28)),
        {"xpu-upsample-nearest1d-large"},
    ),
    "a large sequence": (
        giving("aten::upsample_nearest1d", dense(1, 2, 2**29), self=dense(1, 2, 2**28)), set(),
    ),
    "nearly 2**31 random bytes": (
        node("aten::random_.from", self=dense(2**31 - 1, dtype="uint8")),
        {"xpu-random-bytes-large"},
    ),
    "nearly 2**31 random integers": (
        node("aten::random_.from", self=dense(2**31 - 1, dtype="int32")), set(),
    ),
    "2**31 random bytes": (node("aten::random_.from", self=dense(2**31, dtype="uint8")), set()),
    "a huge rrelu in training": (node(RRELU, self=dense(2**31), training=True), {"rrelu-large"}),
    "a huge rrelu": (node(RRELU, self=dense(2**31)), set()),
    "a rrelu in training": (node(RRELU, self=dense(2**31 - 1), training=True), set()),
    "nearly 2**31 bytes turned round": (
        node("aten::flip", self=dense(2**31 - 1, dtype="uint8"), dims=(0,)),
        {"xpu-flip-bytes-large"},
    ),
    "nearly 2**31 numbers turned round": (
        node("aten::flip", self=dense(2**31 - 1), dims=(0,)), set(),
    ),
    "the square of complex numbers": (
        node(POW, self=dense(9, dtype="complex64"), exponent=2), {"xpu-complex-square"},
    ),
    "the third power of complex numbers": (
        node(POW, self=dense(9, dtype="complex64"), exponent=3), set(),
    ),
    "the square of numbers": (node(POW, self=dense(9), exponent=2), set()),
    "squared complex numbers": (
        node("aten::square", self=dense(9, dtype="complex128")), {"xpu-complex-square"},
    ),
    "chosen products in half": (
        node(SAMPLED, self=dense(4, 4, dtype=HALF), mat1=dense(4, 8, dtype=HALF)),
        {"xpu-sampled-addmm-half"},
    ),
    "chosen products": (node(SAMPLED, self=dense(4, 4), mat1=dense(4, 8)), set()),
    "a huge dot product": (node("aten::dot", self=dense(2**31)), {"xpu-dot-large"}),
    "a dot product": (node("aten::dot", self=dense(2**31 - 1)), set()),
}  # fmt: skip
"""Of kernels that XPU has as CUDA has them."""
