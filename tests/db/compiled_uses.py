"""Uses that later advisories of Torch-TensorRT, Moore Threads and Cambricon are about."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node

MASK = dense(4, 5, dtype="bool")
USES: dict[str, tuple[Node, set[str]]] = {
    "groups with weights": (
        node("aten::native_group_norm", input=dense(1, 4, 3), weight=dense(4), bias=dense(4)),
        {"tensorrt-group-norm-weight"},
    ),
    "groups without weights": (node("aten::native_group_norm", input=dense(1, 4, 3)), set()),
    "one of two masks": (
        node("aten::where.self", condition=MASK, self=MASK, other=MASK), {"tensorrt-where-bool"},
    ),
    "one of two tensors": (
        node("aten::where.self", condition=MASK, self=dense(4, 5), other=dense(4, 5)), set(),
    ),
    "a max pool without a batch": (
        node("aten::max_pool2d_with_indices", self=dense(3, 8, 8)), {"musa-max-pool-indices"},
    ),
    "a max pool of a batch": (
        node("aten::max_pool2d_with_indices", self=dense(1, 3, 8, 8)), set(),
    ),
    "one of one": (
        node("aten::index_select", self=dense(), index=dense(1, dtype="int64")),
        {"musa-index-select-scalar"},
    ),
    "one of many": (
        node("aten::index_select", self=dense(9), index=dense(1, dtype="int64")), set(),
    ),
}  # fmt: skip
