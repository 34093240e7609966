"""Uses that advisories from threads about NVIDIA and AMD are about, and others beside."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving, permuted

NLL, NLL_BACKWARD = "aten::nll_loss2d_forward", "aten::nll_loss2d_backward"
LOGITS = dense(2**16, 2**15, 1, 1, dtype="float16")
COLUMNS, ROWS = dense(8209, 512, 1), dense(8209, 1, 512)
TALL, BROAD = dense(2, 2**15, 1), dense(2, 1, 2**16)
LEFT, RIGHT = dense(8209, 512, 2), dense(8209, 2, 512)
USES: dict[str, tuple[Node, set[str]]] = {
    "a sum over 2**31 logits": (
        node(NLL, self=LOGITS, reduction=2), {"cuda-nll-loss2d-large"},
    ),
    "a loss for each of them": (node(NLL, self=LOGITS, reduction=0), set()),
    "gradients of that sum": (
        node(NLL_BACKWARD, self=LOGITS, reduction=2), {"cuda-nll-loss2d-gradients-large"},
    ),
    "gradients of each": (node(NLL_BACKWARD, self=LOGITS, reduction=0), set()),
    "columns by rows, 2**31 elements": (
        giving("aten::bmm", dense(8209, 512, 512), self=COLUMNS, mat2=ROWS),
        {"cuda-bmm-outer-large"},
    ),
    "two large ones": (
        giving("aten::bmm", dense(2, 2**15, 2**16), self=TALL, mat2=BROAD), set(),
    ),
    "matrices of as many elements": (
        giving("aten::bmm", dense(8209, 512, 512), self=LEFT, mat2=RIGHT), set(),
    ),
    "a million values to count": (
        node("aten::bincount", self=dense(10**6, dtype="int64")), {"cuda-histogram-slow"},
    ),
    "ten values": (node("aten::bincount", self=dense(10, dtype="int64")), set()),
    "2**28 values to count": (
        node("aten::histc", self=dense(2**28)), {"cuda-histogram-slow", "cuda-histc-counts"},
    ),
    "a transform": (node("aten::_fft_r2c", self=dense(60, 60)), {"cuda-fft-ada"}),
    "an inverse transform of half a spectrum": (
        node("aten::_fft_c2r", self=dense(60, 31, dtype="complex64")), {"cuda-fft-ada"},
    ),
    "a convolution beside it": (node("aten::conv2d", input=dense(1, 3, 8, 8)), set()),
    "columns with enormous steps": (
        node("aten::im2col", self=dense(1, 1, 3, 3), stride=(2**62, 2**62)),
        {"cuda-unfold-overflow"},
    ),
    "columns": (node("aten::im2col", self=dense(1, 1, 3, 3), stride=(1, 1)), set()),
    "gradients of rows without elements": (
        node(
            "aten::embedding_dense_backward",
            grad_output=dense(3, 0), indices=dense(3, dtype="int64"),
        ),
        {"cuda-embedding-empty"},
    ),
    "gradients of rows": (
        node(
            "aten::embedding_dense_backward",
            grad_output=dense(3, 8), indices=dense(3, dtype="int64"),
        ),
        set(),
    ),
    "groups of images in channels_last": (
        node("aten::group_norm", input=permuted(4, 32, 24, 24)), {"cuda-group-norm-layout"},
    ),
    "groups of images": (node("aten::group_norm", input=dense(4, 32, 24, 24)), set()),
    "a tangent of complex numbers": (
        node("aten::tan", self=dense(4, dtype="complex64")), {"cuda-tan-complex"},
    ),
    "a tangent": (node("aten::tan", self=dense(4)), set()),
    "zeta of unsigned integers": (
        node("aten::special_zeta", self=dense(2), other=dense(2, dtype="uint16")),
        {"cuda-jit-unsigned"},
    ),
    "a polynomial of unsigned integers": (
        node("aten::special_chebyshev_polynomial_t", x=dense(2, dtype="uint32"), n=dense(2)),
        {"cuda-jit-unsigned"},
    ),
    "zeta of integers": (
        node("aten::special_zeta", self=dense(2), other=dense(2, dtype="int64")), set(),
    ),
    "many values into a hundred places": (
        node("aten::scatter_add", self=dense(100), src=dense(74544)),
        {"rocm-scatter-contended", "rocm-scatter-slow"},
    ),
    "many rows into a hundred": (
        node(
            "aten::index_add_", self=dense(100, 8), index=dense(74544, dtype="int64"),
            source=dense(74544, 8),
        ),
        {"rocm-scatter-contended"},
    ),
    "many rows into as many": (
        node(
            "aten::index_add_", self=dense(74544, 8), index=dense(74544, dtype="int64"),
            source=dense(74544, 8),
        ),
        set(),
    ),
    "eigenvectors of a large matrix": (
        node("aten::_linalg_eigh", A=dense(512, 512)), {"cuda-eigh-ill-conditioned"},
    ),
    "eigenvectors of a small one": (node("aten::_linalg_eigh", A=dense(8, 8)), set()),
    "least squares": (
        node("aten::linalg_lstsq", self=dense(5, 3), b=dense(5, 1)), {"cuda-lstsq-rank"},
    ),
    "a loss of alignments": (
        node("aten::ctc_loss.IntList", log_probs=dense(50, 2, 20)), {"rocm-ctc-miopen"},
    ),
    "a loss of alignments in float64": (
        node("aten::ctc_loss.IntList", log_probs=dense(50, 2, 20, dtype="float64")), set(),
    ),
    "sums along 2**17 rows of 2**16": (
        node("aten::cumsum", self=dense(2**17, 2**16), dim=-1), {"cuda-scan-rows-large"},
    ),
    "the largest so far along rows": (
        node("aten::_cummax_helper", self=dense(2**16, 2**16), dim=-1), {"cuda-scan-rows-large"},
    ),
    "sums along 2**16 rows": (node("aten::cumsum", self=dense(2**15, 2**16), dim=1), set()),
    "sums along one row": (node("aten::cumsum", self=dense(2**33), dim=-1), set()),
    "64 images in bfloat16": (
        node(
            "aten::conv2d", input=dense(64, 128, 513, 513, dtype="bfloat16"),
            weight=dense(128, 128, 3, 3, dtype="bfloat16"),
        ),
        {"cuda-conv2d-large-slow"},
    ),
    "63 images": (
        node(
            "aten::conv2d", input=dense(63, 128, 513, 513, dtype="bfloat16"),
            weight=dense(128, 128, 3, 3, dtype="bfloat16"),
        ),
        set(),
    ),
    "positions with antialias": (
        giving("aten::_upsample_bicubic2d_aa", dense(1, 768, 6, 6), self=dense(1, 768, 16, 16)),
        {"cuda-upsample-slow"},
    ),
    "a photograph with antialias": (
        giving("aten::_upsample_bicubic2d_aa", dense(1, 3, 224, 224), self=dense(1, 3, 512, 512)),
        set(),
    ),
    "positions of a vision model": (
        giving("aten::upsample_bicubic2d", dense(1, 1152, 74, 74), self=dense(1, 1152, 64, 64)),
        {"cuda-bicubic-slow"},
    ),
    "a photograph": (
        giving("aten::upsample_bicubic2d", dense(1, 3, 74, 74), self=dense(1, 3, 64, 64)), set(),
    ),
}  # fmt: skip
