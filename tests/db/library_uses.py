"""Uses that advisories are about which users of libraries told of: products, functions, counts."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node

H20, GFX1100 = "cuda-h20-products", "rocm-gfx1100-products"
COARSE, HALF = "bfloat16", "float16"
SAFE = "aten::_safe_softmax"
LONGS = dense(7, dtype="int64")

USES: dict[str, tuple[Node, set[str]]] = {
    "a product in bfloat16": (
        node("aten::mm", self=dense(2, 8, dtype=COARSE), mat2=dense(8, 4, dtype=COARSE)),
        {H20, GFX1100},
    ),
    "a linear layer in float16": (
        node(
            "aten::addmm", self=dense(4, dtype=HALF), mat1=dense(2, 8, dtype=HALF),
            mat2=dense(8, 4, dtype=HALF),
        ),
        {H20, GFX1100},
    ),
    "a batch of them plus another": (
        node(
            "aten::baddbmm", self=dense(4, dtype=HALF), batch1=dense(1, 2, 8, dtype=HALF),
            batch2=dense(1, 8, 4, dtype=HALF),
        ),
        {H20, GFX1100},
    ),
    "a batch of products of whole numbers": (
        node("aten::bmm", self=dense(1, 2, 8), mat2=dense(1, 8, 4)), {GFX1100},
    ),
    "the sine of a complex number": (
        node("aten::sin", self=dense(3, dtype="complex128")), {"cuda-complex-infinite"},
    ),
    "a sine": (node("aten::sin", self=dense(3)), set()),
    "how often numbers are there": (
        node("aten::_unique2", self=LONGS, return_counts=True), {"mps-unique-counts-equal"},
    ),
    "which numbers are there": (node("aten::_unique2", self=LONGS, return_counts=False), set()),
    "scores of attention": (
        node(SAFE, self=dense(2, 8), dim=-1), {"xpu-safe-softmax-nan"},
    ),
    "scores along the first dimension": (node(SAFE, self=dense(2, 8), dim=0), set()),
}  # fmt: skip
