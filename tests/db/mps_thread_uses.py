"""Calls that meet an advisory about Apple's GPUs that a later reading of threads brought."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense
from tests.db.mps_uses import node

ROWS = dense(1, 2, 4, 64)
USES: dict[str, tuple[Node, set[str]]] = {
    "a mask of booleans": (
        node("scaled_dot_product_attention", query=ROWS, attn_mask=dense(1, 1, 4, 4, dtype="bool")),
        {"mps-attention-few-queries"},
    ),
    "no mask": (node("scaled_dot_product_attention", query=dense(1, 2, 99, 64)), set()),
    "an imaginary part, conjugated": (node("_neg_view", self=dense(3)), {"mps-negative-view"}),
    "an imaginary part": (node("view_as_real", self=dense(3, dtype="complex64")), set()),
    "rows that stand for a batch": (
        node("linear", input=TensorMeta("float32", (5, 4, 8), (0, 8, 1)), weight=dense(8, 8)),
        {"mps-linear-expanded", "mps-linear-layout"},
    ),
    "a batch of rows": (node("linear", input=dense(5, 4, 8), weight=dense(8, 8)), set()),
    "nothing times nothing": (
        node("mm", self=dense(3, 0), mat2=dense(0, 4)), {"mps-addmm-no-inner"},
    ),
    "nothing times nothing, added": (
        node("addmm", self=dense(3, 4), mat1=dense(3, 0), mat2=dense(0, 4)), {"mps-addmm-no-inner"},
    ),
    "a product": (node("mm", self=dense(3, 2), mat2=dense(2, 4)), set()),
    "no part of a product": (
        node("addcmul", self=dense(3), tensor1=dense(3), tensor2=dense(3), value=0),
        {"mps-addc-zero"},
    ),
    "half of a product": (
        node("addcmul", self=dense(3), tensor1=dense(3), tensor2=dense(3), value=0.5), set(),
    ),
    "a long row of integers, padded": (
        replace(
            node("constant_pad_nd", self=dense(131072, dtype="int64")),
            outputs=(dense(131073, dtype="int64"),),
        ),
        {"mps-pad-long"},
    ),
    "a short row of integers, padded": (
        replace(
            node("constant_pad_nd", self=dense(32768, dtype="int64")),
            outputs=(dense(32769, dtype="int64"),),
        ),
        set(),
    ),
    "a long row of floats, padded": (
        replace(node("constant_pad_nd", self=dense(131072)), outputs=(dense(131073),)), set(),
    ),
    "two places beside a dimension of one": (
        node(
            "scatter_.value", self=dense(10, 100, 1), dim=1,
            index=dense(10, 2, 1, dtype="int64"), value=1.0,
        ),
        {"mps-scatter-last-one"},
    ),
    "two places beside a dimension of two": (
        node(
            "scatter_.value", self=dense(10, 100, 2), dim=1,
            index=dense(10, 2, 2, dtype="int64"), value=1.0,
        ),
        set(),
    ),
    "a long sequence that was one batch": (
        node(
            "linear", input=TensorMeta("float32", (32769, 1, 256), (256, 8388864, 1)),
            weight=dense(256, 256), bias=None,
        ),
        {"mps-linear-stride-large"},
    ),
    "a sequence that was one batch": (
        node(
            "linear", input=TensorMeta("float32", (32768, 1, 256), (256, 8388608, 1)),
            weight=dense(256, 256), bias=None,
        ),
        set(),
    ),
}  # fmt: skip
