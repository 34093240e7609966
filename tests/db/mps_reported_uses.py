"""Calls that meet an advisory about Apple's GPUs that users' reports tell of."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense
from tests.db.mps_uses import node

TURNED = TensorMeta("float32", (2, 3), (1, 2))
MPS_REPORTED_USES: dict[str, tuple[Node, set[str]]] = {
    "magnitudes": (node("abs", self=dense(4, dtype="complex64")), {"mps-complex-abs"}),
    "magnitudes of real numbers": (node("abs", self=dense(4)), set()),
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
    "a part of channels_last channels": (
        node("_mps_convolution", self=TensorMeta("float32", (1, 1, 4, 4), (32, 1, 8, 2))),
        {"mps-channels-last-slice"},
    ),
    "half of channels_last channels": (
        node("_mps_convolution", self=TensorMeta("float32", (1, 4, 4, 4), (128, 1, 32, 8))),
        {"mps-channels-last-slice"},
    ),
    "half of the channels of a norm": (
        node("native_batch_norm", input=TensorMeta("float32", (1, 4, 4, 4), (128, 1, 32, 8))),
        {"mps-channels-last-slice"},
    ),
    "half of the channels": (
        node("_mps_convolution", self=TensorMeta("float32", (2, 4, 4, 4), (128, 16, 4, 1))), set(),
    ),
    "a loss of turned boxes": (
        node("smooth_l1_loss", self=TURNED, target=dense(2, 3)), {"mps-smooth-l1-layout"},
    ),
    "a loss of boxes, and turned ones to reach": (
        node("smooth_l1_loss", self=dense(2, 3), target=TURNED, reduction=2),
        {"mps-smooth-l1-layout"},
    ),
    "losses of turned boxes": (
        node("smooth_l1_loss", self=TURNED, target=dense(2, 3), reduction=0), set(),
    ),
    "scores and a mask": (
        node("add.Tensor", dense(2**15, 2**17, dtype="bfloat16"), self=dense(2)), {"mps-add-large"},
    ),
    "scores in float32 and a mask": (
        node("add.Tensor", dense(2**15, 2**16), self=dense(2)), {"mps-add-large"},
    ),
    "few scores and a mask": (
        node("add.Tensor", dense(2**15, 2**16, dtype="bfloat16"), self=dense(2)), set(),
    ),
    "single rows and a bias": (
        node("linear", input=dense(80, 1, 2), weight=dense(192, 2), bias=dense(192)),
        {"mps-linear-bias-rows", "mps-linear-bias-m1"},
    ),
    "single rows": (
        node("linear", input=dense(80, 1, 2), weight=dense(192, 2), bias=None), set(),
    ),
    "the largest of one huge dimension": (
        node("max", self=dense(2**31, dtype="uint8")), {"mps-dimension-huge"},
    ),
    "the largest of two dimensions": (
        node("max", self=dense(2**16, 2**15, dtype="uint8")), set(),
    ),
    "the ends of huge rows": (
        node("cat", dense(2, 6, dtype="int8"), tensors=(dense(2, 2**31, dtype="int8"),), dim=1),
        {"mps-dimension-huge"},
    ),
    "a very long kernel": (
        node("_mps_convolution", self=dense(4, 1, 385360), weight=dense(352, 1, 65536)),
        {"mps-conv-kernel-huge"},
    ),
    "a long kernel": (
        node("_mps_convolution", self=dense(4, 1, 9999), weight=dense(352, 1, 4096)), set(),
    ),
    "counts between edges": (
        node("histogram.bins_tensor", self=dense(3), bins=dense(3)), {"mps-histogram-edges"},
    ),
    "counts": (node("histogram.bin_ct", self=dense(3), bins=3), set()),
}  # fmt: skip
