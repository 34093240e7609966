"""Uses that advisories for Intel GPUs from what oneDNN refuses are about, and others beside."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import permuted

INTEGERS, COMPLEX, DOUBLE = "int64", "complex64", "float64"
USES: dict[str, tuple[Node, set[str]]] = {
    "a convolution of integers": (
        node(
            "aten::convolution_overrideable",
            input=dense(1, 3, 8, 8, dtype=INTEGERS),
            weight=dense(4, 3, 3, 3, dtype=INTEGERS),
        ),
        {"xpu-onednn-integers"},
    ),
    "a convolution": (
        node(
            "aten::convolution_overrideable",
            input=dense(1, 3, 8, 8),
            weight=dense(4, 3, 3, 3),
        ),
        set(),
    ),
    "a dilated transposed convolution with padding": (
        node(
            "aten::convolution_overrideable",
            input=dense(1, 3, 8, 8),
            stride=(1, 1),
            dilation=(2, 2),
            transposed=True,
            output_padding=(1, 1),
        ),
        {"xpu-deconv-output-padding"},
    ),
    "a transposed convolution with padding": (
        node(
            "aten::convolution_overrideable",
            input=dense(1, 3, 8, 8),
            stride=(2, 2),
            dilation=(1, 1),
            transposed=True,
            output_padding=(1, 1),
        ),
        set(),
    ),
    "a product of int64": (
        node("aten::mm", self=dense(4, 4, dtype=INTEGERS)),
        {"xpu-onednn-integers"},
    ),
    "a product of int8": (node("aten::mm", self=dense(4, 4, dtype="int8")), set()),
    "a sum with a product of booleans": (
        node("aten::addmm", mat1=dense(4, 4, dtype="bool")),
        {"xpu-onednn-integers"},
    ),
    "a sum with batched products of int16": (
        node("aten::baddbmm", batch1=dense(2, 4, 4, dtype="int16")),
        {"xpu-onednn-integers"},
    ),
    "a vector of int64": (
        node("aten::addmv_", mat=dense(4, 4, dtype=INTEGERS)),
        {"xpu-onednn-integers"},
    ),
    "a product of complex numbers": (
        node("aten::bmm", self=dense(2, 4, 4, dtype=COMPLEX)),
        {"xpu-products-complex"},
    ),
    "a vector of complex numbers": (
        node("aten::addmv", mat=dense(4, 4, dtype=COMPLEX)),
        {"xpu-products-complex"},
    ),
    "a batch of complex numbers": (
        node("aten::addbmm", batch1=dense(2, 4, 4, dtype=COMPLEX)),
        {"xpu-products-complex"},
    ),
    "a sum with a product of complex numbers": (
        node("aten::addmm", mat1=dense(4, 4, dtype=COMPLEX)),
        {"xpu-products-complex"},
    ),
    "a product of doubles": (
        node("aten::mm", self=dense(4, 4, dtype=DOUBLE)),
        {"xpu-products-double"},
    ),
    "a sum with a product of doubles": (
        node("aten::addmm", mat1=dense(4, 4, dtype=DOUBLE)),
        {"xpu-products-double"},
    ),
    "a product of floats": (node("aten::mm", self=dense(4, 4)), set()),
    "gradients of norms of many heads": (
        node(
            "aten::_fused_rms_norm_backward",
            input=dense(65537, 128, dtype="bfloat16"),
            rstd=dense(65537, 1),
            weight=dense(128, dtype="bfloat16"),
        ),
        {"xpu-rms-norm-gradients"},
    ),
    "gradients of norms of fewer heads": (
        node(
            "aten::_fused_rms_norm_backward",
            input=dense(32768, 128, dtype="bfloat16"),
            rstd=dense(32768, 1),
            weight=dense(128, dtype="bfloat16"),
        ),
        set(),
    ),
    "gradients of channels-last normalization": (
        node("aten::native_batch_norm_backward", input=permuted(2, 3, 4, 4), train=True),
        {"xpu-batch-norm-gradients-hang"},
    ),
    "gradients of normalization": (
        node("aten::native_batch_norm_backward", input=dense(2, 3, 4, 4), train=True),
        set(),
    ),
}
