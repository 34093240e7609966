"""Calls that meet an advisory about Apple's GPUs that users' reports tell of."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense
from tests.db.mps_uses import node

MPS_REPORTED_USES: dict[str, tuple[Node, set[str]]] = {
    "a slice of a huge cache": (
        node("copy_", self=TensorMeta("float16", (32, 8), (2**28, 1)), src=dense(32, 8)),
        {"mps-views-huge"},
    ),
    "a slice of a large cache": (
        node("copy_", self=TensorMeta("float16", (8, 8), (2**28, 1)), src=dense(8, 8)), set(),
    ),
    "a deviation counted from the end": (
        node("std.correction", self=dense(2, 3, 4), dim=(-2,)), {"mps-std-negative-dim"},
    ),
    "a deviation that keeps its dimension": (
        node("std.correction", self=dense(2, 3, 4), dim=(-2,), keepdim=True), set(),
    ),
    "the deviation of nothing": (
        node("var.correction", self=dense(3, 0, 5), dim=(1,)), {"mps-var-empty"},
    ),
    "the deviation of millions": (
        node("var.correction", self=dense(4000, 1000)), {"mps-var-macos-27"},
    ),
    "the deviation of thousands": (node("var.correction", self=dense(4000)), set()),
    "a sum of one number": (node("nansum", self=dense()), {"mps-nansum-scalar"}),
    "a sum of one integer": (node("nansum", self=dense(dtype="int64")), set()),
    "bags with a last offset": (
        node("_embedding_bag", weight=dense(4, 4), include_last_offset=True),
        {"mps-embedding-bag-last-offset"},
    ),
    "bags": (node("_embedding_bag", weight=dense(4, 4), include_last_offset=False), set()),
    "counts between edges": (
        node("histogram.bins_tensor", self=dense(3), bins=dense(3)), {"mps-histogram-edges"},
    ),
    "counts": (node("histogram.bin_ct", self=dense(3), bins=3), set()),
}  # fmt: skip
