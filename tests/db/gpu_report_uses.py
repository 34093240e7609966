"""Calls that meet an advisory from users' and vendors' reports about CUDA and ROCm."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving

CDIST, CDIST_BACKWARD, PDIST = (
    "aten::_cdist_forward",
    "aten::_cdist_backward",
    "aten::_pdist_forward",
)
CTC, LSTM, ADDMM = "aten::ctc_loss.Tensor", "aten::lstm.input", "aten::addmm"
SDPA, EFFICIENT = (
    "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_efficient_attention"
)  # fmt: skip
TOPK, EIGH, UNIQUE, SVD = (
    "aten::topk",
    "aten::_linalg_eigh",
    "aten::unique_dim",
    "aten::_linalg_svd",
)
EMBEDDING, BAGS = "aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"
ROLL, TRIANGLE, UNPOOL, POOL_BACKWARD = (
    "aten::roll",
    "aten::tril_indices",
    "aten::max_unpool2d",
    "aten::adaptive_max_pool2d_backward",
)
POOL = "aten::_adaptive_avg_pool2d"
WORDS = "cuda-ctc-device-words"
SOLVE, NORMS = "aten::linalg_solve_triangular", "aten::_foreach_norm.Scalar"
LONG_ROWS = "cuda-unique-rows-slow"
EMBEDDED = "cuda-embedding-gradients-large"
HEADS, TURING = dense(1, 2, 4, 64), "cuda-attention-bfloat16-turing"
ILL = "cuda-eigh-ill-conditioned"


def _gradients(*distances: int, width: int) -> Node:
    rows = dense(*distances[:-1], width)
    return node(CDIST_BACKWARD, x1=rows, cdist=dense(*distances))


def _loss(lengths: TensorMeta, targets: str = "int32") -> Node:
    return node(
        CTC, log_probs=dense(100, 2, 80), targets=dense(9, dtype=targets),
        input_lengths=lengths, target_lengths=lengths,
    )  # fmt: skip


def _attention(keys: TensorMeta, *, heads: int = 512) -> Node:
    """A masked call with as many keys, and queries of which a head has so many numbers."""
    query = dense(1, 8, 4, heads, dtype=keys.dtype)
    return node(SDPA, query=query, key=keys, value=keys, attn_mask=dense(4, keys.shape[-2]))


def _shared(count: int) -> TensorMeta:
    """Keys that eight heads share without a copy."""
    return TensorMeta("bfloat16", (1, 8, count, 512), (count * 512, 0, 512, 1))


def _product(rows: int, dtype: str = "bfloat16") -> Node:
    """Of the transpose of a matrix with 100000 rows."""
    return node("aten::mm", self=TensorMeta(dtype, (rows, 100_000), (1, rows)))


def _looked_up(count: int, width: int, rows: int) -> Node:
    """The gradients of as many rows of a table."""
    return node(
        EMBEDDING, grad_output=dense(count, width), indices=dense(count, dtype="int64"),
        num_weights=rows,
    )  # fmt: skip


def _bags(mode: int, indices: str, *, width: int = 2**16) -> Node:
    table = dense(2**15, width)
    return node("aten::_embedding_bag", weight=table, indices=dense(2, dtype=indices), mode=mode)


LENGTHS = dense(2, dtype="int32")
BIAS = dense(8, dtype="float16")
H20 = "cuda-h20-products"
USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of 257 batches of distances": (
        _gradients(257, 128, 256, width=256), {"cuda-cdist-gradients-large"},
    ),
    "gradients of 256 of them": (_gradients(256, 128, 256, width=256), set()),
    "gradients of two large batches": (
        _gradients(2, 2**14, 2**14, width=8), {"cuda-cdist-gradients-large"},
    ),
    "gradients of one as large": (_gradients(1, 2**15, 2**14, width=8), set()),
    "gradients of 2**31 distances": (
        _gradients(1, 2**16, 2**15, width=1), {"cuda-cdist-gradients-large"},
    ),
    "distances of 5794 rows": (
        giving(PDIST, dense(16782321), self=dense(5794, 3), p=2.0), {"rocm-distances-launch"},
    ),
    "distances of 5793 rows": (
        giving(PDIST, dense(16776528), self=dense(5793, 3), p=2.0), set(),
    ),
    "distances between 4096 and 4096 rows": (
        giving(CDIST, dense(4096, 4096), x1=dense(4096, 3), p=1.0, compute_mode=None),
        {"rocm-distances-launch"},
    ),
    "by products": (
        giving(CDIST, dense(4096, 4096), x1=dense(4096, 3), p=2.0, compute_mode=None), set(),
    ),
    "not by products": (
        giving(CDIST, dense(4096, 4096), x1=dense(4096, 3), p=2.0, compute_mode=2),
        {"rocm-distances-launch"},
    ),
    "lengths in the host's memory": (
        _loss(replace(LENGTHS, host=True)), {"cuda-ctc-host-lengths", WORDS},
    ),
    "lengths on the device": (_loss(LENGTHS), {WORDS}),
    "targets in int64": (_loss(replace(LENGTHS, host=True), "int64"), set()),
    "65536 steps": (
        node(LSTM, input=dense(65536, 2, 4), batch_first=False), {"cuda-lstm-long"},
    ),
    "as many sequences": (node(LSTM, input=dense(9, 65536, 4), batch_first=False), set()),
    "65536 steps after the batch": (
        node(LSTM, input=dense(2, 65536, 4), batch_first=True), {"cuda-lstm-long"},
    ),
    "a bias after three numbers": (
        node(ADDMM, self=replace(BIAS, offset=2)), {"cuda-addmm-bias-offset"},
    ),
    "a bias after eight": (node(ADDMM, self=replace(BIAS, offset=16)), set()),
    "the largest of 2**31": (node(TOPK, self=dense(1, 2**31), k=5), {"cuda-topk-large"}),
    "the largest of two rows": (node(TOPK, self=dense(2, 2**30), k=5), set()),
    "the largest of columns": (node(TOPK, self=dense(1, 2**31), k=1, dim=0), set()),
    "complex matrices": (
        node(EIGH, A=dense(512, 40, 40, dtype="complex64")), {"cuda-eigh-complex", ILL},
    ),
    "one complex matrix": (node(EIGH, A=dense(40, 40, dtype="complex64")), {ILL}),
    "complex matrices in double precision": (
        node(EIGH, A=dense(512, 40, 40, dtype="complex128")), {ILL},
    ),
    "distinct numbers of a vector, along its dimension": (
        node(UNIQUE, self=dense(9, dtype="int64"), dim=0), {"cuda-unique-rows"},
    ),
    "distinct rows": (node(UNIQUE, self=dense(9, 3, dtype="int64"), dim=0), set()),
    "65 shared keys": (_attention(_shared(65)), {"cuda-attention-broadcast", TURING}),
    "66 shared keys": (_attention(_shared(66)), {TURING}),
    "65 shared keys of small heads": (_attention(_shared(65), heads=64), {TURING}),
    "65 keys of each head": (_attention(dense(1, 8, 65, 512, dtype="bfloat16")), {TURING}),
    "queries after one number": (
        node(EFFICIENT, query=replace(HEADS, offset=4), key=HEADS, value=HEADS),
        {"cuda-attention-offset"},
    ),
    "values after three": (
        node(SDPA, query=HEADS, key=HEADS, value=replace(HEADS, offset=4)),
        {"cuda-attention-offset"},
    ),
    "values after four": (
        node(SDPA, query=HEADS, key=HEADS, value=replace(HEADS, offset=16)), set(),
    ),
    "a decomposition by gesvda": (
        node(SVD, A=dense(3, 3), driver="gesvda"), {"cuda-svd-gesvda"},
    ),
    "a decomposition by gesvd": (node(SVD, A=dense(3, 3), driver="gesvd"), set()),
    "gradients of 22 million tokens": (_looked_up(22_000_000, 1024, 32000), {EMBEDDED}),
    "gradients of 20 million": (_looked_up(20_000_000, 1024, 32000), set()),
    "gradients of 4 million tokens in a large vocabulary": (
        _looked_up(4_000_000, 4096, 128256), {EMBEDDED},
    ),
    "gradients of 3.9 million": (_looked_up(3_900_000, 4096, 128256), set()),
    "gradients of 1.4 million wide ones": (_looked_up(1_400_000, 8192, 128256), {EMBEDDED}),
    "gradients of 1.3 million": (_looked_up(1_300_000, 8192, 128256), set()),
    "gradients of 132,000 wider ones": (_looked_up(132_000, 16384, 128256), {EMBEDDED}),
    "gradients of as many in a small vocabulary": (_looked_up(132_000, 16384, 32000), set()),
    "gradients of a million rows": (_looked_up(2**20, 2049, 2**20), {EMBEDDED}),
    "gradients of more tokens than rows": (_looked_up(2**21, 2049, 2**20), set()),
    "gradients of many narrow rows": (_looked_up(2**24, 129, 2**24), {EMBEDDED}),
    "the largest of bags, by int32": (
        _bags(2, "int32"), {"cuda-embedding-bag-max-gradients"},
    ),
    "by int64": (_bags(2, "int64"), set()),
    "the sum of bags": (_bags(0, "int32"), set()),
    "the largest of narrower bags": (_bags(2, "int32", width=2**15), set()),
    "gradients of the sums of 2**15 bags": (
        node(BAGS, grad=dense(2**15, 2**16), mode=0), {"cuda-embedding-bag-gradients-large"},
    ),
    "gradients of their largest": (node(BAGS, grad=dense(2**15, 2**16), mode=2), set()),
    "gradients of 2**14 sums": (node(BAGS, grad=dense(2**14, 2**16), mode=1), set()),
    "a roll of 2**32": (node(ROLL, self=dense(2**32)), {"rocm-roll-large"}),
    "a roll of one more": (
        node(ROLL, self=dense(2**32 + 1)), {"rocm-roll-large", "cuda-roll-large"},
    ),
    "the triangle of 92682 rows": (
        giving(TRIANGLE, dense(2, 92682 * 92683 // 2), row=92682, col=92682),
        {"cuda-triangle-indices-large"},
    ),
    "the triangle of one less": (
        giving(TRIANGLE, dense(2, 92681 * 92682 // 2), row=92681, col=92681), set(),
    ),
    "gradients of pools of 33 images": (
        node(POOL_BACKWARD, self=dense(33, 1, 8192, 8192)),
        {"cuda-adaptive-max-pool-gradients-large"},
    ),
    "gradients of pools of 31": (node(POOL_BACKWARD, self=dense(31, 1, 8192, 8192)), set()),
    "planes of 2**31": (node(UNPOOL, output_size=(2**16, 2**15)), {"cuda-max-unpool-large"}),
    "planes of 2**30": (node(UNPOOL, output_size=(2**15, 2**15)), set()),
    "524281 right-hand sides of two systems": (
        node(SOLVE, self=dense(2, 2, 2), B=dense(2, 2, 524281)),
        {"cuda-solve-triangular-wide", "cuda-solve-triangular-many"},
    ),
    "of one system": (
        node(SOLVE, self=dense(1, 2, 2), B=dense(1, 2, 524281)), {"cuda-solve-triangular-many"},
    ),
    "524280 right-hand sides": (node(SOLVE, self=dense(2, 2, 2), B=dense(2, 2, 524280)), set()),
    "of systems of 64 unknowns": (
        node(SOLVE, self=dense(2, 64, 64), B=dense(2, 64, 524281)), set(),
    ),
    "from the right": (
        node(SOLVE, self=dense(2, 2, 2), B=dense(2, 2, 524281), left=False), set(),
    ),
    "norms with a tensor of 2**31": (
        node(NORMS, self=(dense(4), dense(2**31))), {"cuda-foreach-large"},
    ),
    "fused SGD of one": (node("aten::_fused_sgd_", self=(dense(2**31),)), {"cuda-foreach-large"}),
    "fused Adam of one": (
        node("aten::_fused_adam_", self=(dense(2**31),)), {"cuda-fused-adam-large"},
    ),
    "fused Adam of less": (node("aten::_fused_adam_", self=(dense(2**31 - 1),)), set()),
    "norms of large and empty tensors": (
        node(NORMS, self=(dense(4915200), dense(0), dense(4915200))), {"cuda-foreach-norm-empty"},
    ),
    "norms of small and empty tensors": (node(NORMS, self=(dense(4), dense(0))), set()),
    "norms of large tensors": (node(NORMS, self=(dense(4915200), dense(4))), set()),
    "three long rows in bfloat16": (_product(3), {"cuda-mm-odd-slow", H20}),
    "four": (_product(4), {H20}),
    "one": (_product(1), {H20}),
    "17": (_product(17), {H20}),
    "three in float16": (_product(3, "float16"), {H20}),
    "three that lie in order": (
        node("aten::mm", self=dense(3, 100_000, dtype="bfloat16")), {H20},
    ),
    "a batch of one pair of vectors": (
        node("aten::bmm", self=dense(1, 1, 8192), mat2=dense(1, 8192, 1)),
        {"cuda-bmm-single-slow"},
    ),
    "two pairs": (node("aten::bmm", self=dense(2, 1, 8192), mat2=dense(2, 8192, 1)), set()),
    "a vector and a matrix": (
        node("aten::bmm", self=dense(1, 1, 8192), mat2=dense(1, 8192, 2)), set(),
    ),
    "ten distinct images": (node(UNIQUE, self=dense(10, 100, 1000), dim=0), {LONG_ROWS}),
    "a thousand distinct rows": (node(UNIQUE, self=dense(1000, 1000), dim=0), set()),
    "ten distinct columns": (node(UNIQUE, self=dense(100_000, 10), dim=1), {LONG_ROWS}),
    "2049 windows of a long sound": (
        giving(POOL, dense(1, 1, 1, 2049), self=dense(1, 1, 1, 2**20)),
        {"cuda-adaptive-pool-positions"},
    ),
    "2048 windows": (giving(POOL, dense(1, 1, 1, 2048), self=dense(1, 1, 1, 2**20)), set()),
    "windows of a short one": (
        giving(POOL, dense(1, 1, 1, 2049), self=dense(1, 1, 1, 2**18)), set(),
    ),
    "a row of 2**31 - 1": (
        node("aten::_softmax", self=dense(1, 2**31 - 1), dim=-1), {"cuda-softmax-row-large"},
    ),
    "a row of two less": (node("aten::_softmax", self=dense(1, 2**31 - 2), dim=-1), set()),
    "2**31 rows of an image": (
        node("aten::upsample_bilinear2d", self=dense(1, 1, 2**31, 1)),
        {"cuda-upsample-bilinear-extent"},
    ),
    "2**31 columns": (
        node("aten::upsample_bilinear2d.vec", input=dense(1, 1, 1, 2**31)),
        {"cuda-upsample-bilinear-extent"},
    ),
    "a column less": (
        node("aten::upsample_bilinear2d.vec", input=dense(1, 1, 1, 2**31 - 1)), set(),
    ),
}  # fmt: skip
