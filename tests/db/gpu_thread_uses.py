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
}  # fmt: skip
