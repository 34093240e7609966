"""Uses that advisories on TPUs are about, as users told it, and others beside."""

from opcheck.model.trace import Node
from tests.db.calls import dense
from tests.db.calls import node as call
from tests.db.uses_on_accelerators import giving

BAGS, INT = "aten::_embedding_bag_forward_only", dense(1, 10, dtype="int32")
LONG = dense(dtype="int64")
USES: dict[str, tuple[Node, set[str]]] = {
    "the largest of a bag": (call(BAGS, weight=dense(9, 3), mode=2), {"tpu-embedding-bag-max"}),
    "the sum of a bag": (call(BAGS, weight=dense(9, 3), mode=0), set()),
    "int32 plus a scalar of int64": (
        giving("aten::add.Tensor", INT, self=INT, other=LONG), {"tpu-integer-promotion"},
    ),
    "int32 plus a scalar of int32": (
        giving("aten::add.Tensor", INT, self=INT, other=dense(dtype="int32")), set(),
    ),
}  # fmt: skip
