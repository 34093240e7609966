"""Uses that advisories are about which threads of users told, of a sixth round."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node

SDPA = "aten::scaled_dot_product_attention"
QUERY = dense(1, 16, 1, 128, dtype="float16")
VIEW = TensorMeta("float16", (1, 16, 16, 128), (32768, 128, 2048, 1))
MASK = dense(1, 1, 1, 16, dtype="bool")
ROWS, TAPS = dense(1, 768, 64, dtype="float16"), dense(768, 1, 31, dtype="float16")
USES: dict[str, tuple[Node, set[str]]] = {
    "a norm with a tiny epsilon": (
        node("aten::native_layer_norm", input=dense(2, 4), eps=1e-12),
        {"mps-layer-norm-small-variance"},
    ),
    "a norm with the usual epsilon": (
        node("aten::native_layer_norm", input=dense(2, 4), eps=1e-5), set(),
    ),
    "a loss of no boxes": (node("aten::smooth_l1_loss", self=dense(0, 4)), {"mps-smooth-l1-empty"}),
    "a loss of one box": (node("aten::smooth_l1_loss", self=dense(1, 4)), set()),
    "softshrink": (node("aten::softshrink", self=dense(3)), {"xpu-softshrink-nan"}),
    "hardshrink": (node("aten::hardshrink", self=dense(3)), set()),
    "a scan down four columns": (
        node("aten::cumsum", self=dense(2**20, 4), dim=0), {"cuda-scan-columns-slow"},
    ),
    "a scan down many columns": (node("aten::cumsum", self=dense(2**20, 512), dim=0), set()),
    "a scan of one column": (node("aten::cumsum", self=dense(2**20, 1), dim=0), set()),
    "a scan of rows": (node("aten::cumsum", self=dense(4, 2**20), dim=1), set()),
    "attention by a mask and views": (
        node(SDPA, query=QUERY, key=VIEW, value=VIEW, attn_mask=MASK),
        {"cuda-attention-mask-strides"},
    ),
    "attention by views": (node(SDPA, query=QUERY, key=VIEW, value=VIEW), set()),
    "attention of bfloat16": (
        node(SDPA, query=dense(1, 8, 16, 64, dtype="bfloat16")), {"cuda-attention-bfloat16-turing"},
    ),
    "attention of bfloat16 and heads of 63": (
        node(SDPA, query=dense(1, 8, 16, 63, dtype="bfloat16")), set(),
    ),
    "a depthwise convolution of half": (
        node("aten::conv1d", input=ROWS, weight=TAPS, groups=768), {"cuda-depthwise-conv1d-half"},
    ),
    "windows of a signal": (
        node("aten::unfold", self=dense(8), dimension=0, size=2, step=2), {"tpu-views-refused"},
    ),
    "a signal seen otherwise": (node("aten::view", self=dense(8), size=(2, 4)), set()),
    "a convolution of one group of half": (
        node("aten::conv1d", input=ROWS, weight=dense(8, 768, 31, dtype="float16")), set(),
    ),
}  # fmt: skip
