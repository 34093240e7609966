"""Uses with rows, axes and sparse layouts that kernels take and do not bear."""

from opcheck.model.trace import Constant, Node
from tests.db.calls import dense, node

ROWS = dense(3, 2**30)
SPARSE = Constant("other", "sparse_csr float32[4,4]")
MATRICES = Constant("other", "sparse_coo float32[2,4,4]")
SORT, TOPK, NONZERO = "aten::sort.stable", "aten::topk", "aten::nonzero"
QUANTIZED = "aten::_fused_moving_avg_obs_fq_helper"
USES: dict[str, tuple[Node, set[str]]] = {
    "rows sorted, past 2**31 elements": (node(SORT, self=ROWS, dim=1), {"xpu-sort-large"}),
    "rows sorted, below it": (node(SORT, self=dense(3, 2**29), dim=1), set()),
    "the five largest of rows past 2**31 elements": (
        node(TOPK, self=ROWS, k=5, dim=1),
        {
            "xpu-topk-max", "xpu-topk-nan", "xpu-topk-race", "xpu-topk-resources",
            "xpu-topk-rows-large",
        },
    ),
    "the 500 largest of them": (
        node(TOPK, self=ROWS, k=500, dim=1),
        {"xpu-topk-max", "xpu-topk-rows-large", "xpu-topk-wide-large"},
    ),
    "where 2**30 elements are": (
        node(NONZERO, self=dense(2**30, dtype="bool")),
        {"xpu-nonzero-driver", "xpu-nonzero-memory"},
    ),
    "where a thousand are": (
        node(NONZERO, self=dense(1000, dtype="bool")), {"xpu-nonzero-driver"},
    ),
    "fake quantization along the last axis": (
        node(QUANTIZED, self=dense(4, 4), ch_axis=-1, per_row_fake_quant=True),
        {"xpu-fake-quant-axis"},
    ),
    "fake quantization along the first": (
        node(QUANTIZED, self=dense(4, 4), ch_axis=0, per_row_fake_quant=True), set(),
    ),
    "fake quantization of the whole": (
        node(QUANTIZED, self=dense(4, 4), ch_axis=-1, per_row_fake_quant=False), set(),
    ),
    "a CSR matrix times a dense one": (
        node("aten::mm", self=SPARSE, mat2=dense(4, 4)), {"xpu-sparse-csr-dense"},
    ),
    "sparse matrices times a column each": (
        node("aten::bmm", self=MATRICES, mat2=dense(2, 4, 1)), {"cuda-sparse-bmm-column"},
    ),
    "sparse matrices times two columns each": (
        node("aten::bmm", self=MATRICES, mat2=dense(2, 4, 2)), set(),
    ),
    "one sparse matrix times a column": (
        node("aten::bmm", self=MATRICES, mat2=dense(1, 4, 1)), set(),
    ),
}  # fmt: skip
