"""Uses that advisories are about which threads of users told, of a sixth and an eighth round."""

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, TensorMeta
from tests.db.calls import dense, node

SDPA = "aten::scaled_dot_product_attention"
QUERY = dense(1, 16, 1, 128, dtype="float16")
VIEW = TensorMeta("float16", (1, 16, 16, 128), (32768, 128, 2048, 1))
MASK = dense(1, 1, 1, 16, dtype="bool")
ROWS, TAPS = dense(1, 768, 64, dtype="float16"), dense(768, 1, 31, dtype="float16")
FUSED, FLAGS = "aten::_scaled_dot_product_fused_attention_overrideable", dense(64, 64, dtype="bool")
HEADS = dense(1, 2, 64, 64, dtype="float16")
LATER = replace(HEADS, offset=256)
PACKED, UNSIGNED = dense(16, 16, dtype="float8_e4m3fn"), Constant("dtype", "uint32")
USES: dict[str, tuple[Node, set[str]]] = {
    "attention of a slice by a mask of booleans": (
        node(FUSED, query=LATER, key=HEADS, attn_bias=FLAGS), {"rbln-attention-mask-bool"},
    ),
    "attention to a slice by a mask of booleans": (
        node(FUSED, query=HEADS, key=LATER, attn_bias=FLAGS), {"rbln-attention-mask-bool"},
    ),
    "attention of a slice by a mask of numbers": (
        node(FUSED, query=LATER, key=HEADS, attn_bias=dense(64, 64, dtype="float16")), set(),
    ),
    "attention by a mask of booleans": (
        node(FUSED, query=HEADS, key=HEADS, attn_bias=FLAGS), set(),
    ),
    "attention in half precision": (
        node(SDPA, query=HEADS, key=HEADS, value=HEADS),
        {"gcu-attention-nan", "maca-attention-math"},
    ),
    "attention in bfloat16": (
        node(SDPA, query=dense(1, 2, 64, 64, dtype="bfloat16"), key=HEADS, value=HEADS),
        {"maca-attention-math"},
    ),
    "a product of float32": (
        node("aten::mm", self=dense(64, 64), mat2=dense(64, 64)), {"maca-float32-products"},
    ),
    "a product of float16": (
        node("aten::mm", self=dense(64, 64, dtype="float16"), mat2=HEADS), set(),
    ),
    "a copy of unsigned numbers": (
        node("aten::copy_", self=dense(4, dtype="uint32"), src=dense(4, dtype="int64")),
        {"maca-copy-uint32"},
    ),
    "a cast to unsigned numbers": (
        replace(
            node("aten::_to_copy", self=dense(4, dtype="int64"), dtype=UNSIGNED),
            outputs=(dense(4, dtype="uint32"),),
        ),
        {"maca-copy-uint32"},
    ),
    "a copy of bytes": (
        node("aten::copy_", self=dense(4, dtype="uint8"), src=dense(4, dtype="int64")), set(),
    ),
    "values put by places of int32": (
        node("aten::index_put_", self=dense(4), indices=(dense(2, dtype="int32"),)),
        {"xpu-index-put-int32"},
    ),
    "values put by places of int64": (
        node("aten::index_put_", self=dense(4), indices=(dense(2, dtype="int64"),)), set(),
    ),
    "a product of no rows in float8": (
        node("aten::_scaled_mm", self=dense(0, 16, dtype="float8_e4m3fn"), mat2=PACKED),
        {"cuda-scaled-mm-empty"},
    ),
    "a product in float8": (node("aten::_scaled_mm", self=PACKED, mat2=PACKED), set()),
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
