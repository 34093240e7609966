"""Uses that advisories for Intel GPUs from what oneDNN refuses are about, and others beside."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import permuted

INTEGERS, COMPLEX, DOUBLE, BYTES = "int64", "complex64", "float64", "float8_e4m3fn"
SDPA = "aten::scaled_dot_product_attention"
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
    "a product of int32": (
        node("aten::mm", self=dense(4, 4, dtype="int32")),
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
    "attention with padding": (
        node(
            SDPA,
            query=dense(2, 4, 8, 80),
            key=dense(2, 4, 8, 80),
            attn_mask=dense(2, 1, 8, 8, dtype="bool"),
        ),
        {"xpu-attention-masked-rows"},
    ),
    "attention with a mask over all keys": (
        node(
            SDPA,
            query=dense(2, 4, 8, 80),
            key=dense(2, 4, 8, 80),
            attn_mask=TensorMeta("bool", (2, 1, 8, 8), (8, 8, 1, 0)),
        ),
        {"xpu-attention-masked-rows", "xpu-attention-mask-expanded"},
    ),
    "attention without a mask": (
        node(SDPA, query=dense(2, 4, 8, 80), key=dense(2, 4, 8, 80)),
        set(),
    ),
    "a long sequence": (
        node("aten::lstm.input", input=dense(2, 100, 8), batch_first=True),
        {"xpu-lstm-steps"},
    ),
    "a long sequence of batches": (
        node("aten::gru.input", input=dense(100, 2, 8), batch_first=False),
        {"xpu-lstm-steps"},
    ),
    "a short sequence": (
        node("aten::lstm.input", input=dense(100, 2, 8), batch_first=True),
        set(),
    ),
    "medians of rows": (
        node("aten::median.dim", self=dense(8, 1024), dim=1),
        {"xpu-median-slow"},
    ),
    "medians of a few rows": (
        node("aten::median.dim", self=dense(8, 64), dim=1),
        set(),
    ),
    "a sum with a product of bytes": (
        node("aten::addmm", mat1=dense(4, 4, dtype="uint8")),
        {"xpu-products-int8"},
    ),
    "batched sums with products of int8": (
        node("aten::baddbmm", batch1=dense(2, 4, 4, dtype="int8")),
        {"xpu-products-int8"},
    ),
    "half a product in half precision": (
        node("aten::addmm", mat1=dense(4, 4, dtype="float16"), alpha=0.5),
        {"xpu-products-half-scale"},
    ),
    "a sum of half a tensor in half precision": (
        node("aten::baddbmm", batch1=dense(2, 4, 4, dtype="bfloat16"), beta=0.5),
        {"xpu-products-half-scale"},
    ),
    "half a product alone": (
        node("aten::baddbmm", batch1=dense(2, 4, 4, dtype="bfloat16"), beta=0, alpha=0.5),
        set(),
    ),
    "a product of float8 in sizes of 17": (
        node("aten::_scaled_mm", self=dense(16, 17, dtype=BYTES), mat2=dense(17, 16, dtype=BYTES)),
        {"xpu-scaled-mm-sizes"},
    ),
    "a scaled product in half precision": (
        node("aten::_scaled_mm", self=dense(16, 16, dtype="float16")),
        {"xpu-scaled-mm-sizes"},
    ),
    "a product of float8": (
        node("aten::_scaled_mm", self=dense(17, 16, dtype=BYTES), mat2=dense(16, 32, dtype=BYTES)),
        set(),
    ),
    "gradients of a depthwise convolution over a token": (
        node(
            "aten::convolution_backward",
            input=TensorMeta("float32", (2, 4, 1), (4, 1, 4)),
            weight=dense(4, 1, 2),
            groups=4,
        ),
        {"xpu-conv-one-position"},
    ),
    "gradients of a convolution over a token": (
        node(
            "aten::convolution_backward",
            input=TensorMeta("float32", (2, 4, 1), (4, 1, 4)),
            weight=dense(4, 4, 2),
            groups=1,
        ),
        set(),
    ),
    "gradients of a depthwise convolution over a position in order": (
        node(
            "aten::convolution_backward",
            input=dense(2, 4, 1),
            weight=dense(4, 1, 2),
            groups=4,
        ),
        set(),
    ),
    "the largest four of many rows": (
        node("aten::topk", self=dense(512, 32, dtype="bfloat16"), k=4),
        {"xpu-topk-max", "xpu-topk-nan"},
    ),
    "the largest four of short rows": (
        node("aten::topk", self=dense(512, 31), k=4),
        {"xpu-topk-max"},
    ),
    "the largest nine of many rows": (
        node("aten::topk", self=dense(512, 32), k=9),
        {"xpu-topk-max"},
    ),
    "the largest four of few rows": (
        node("aten::topk", self=dense(8, 32), k=4),
        {"xpu-topk-max"},
    ),
    "an inverse transform in half precision": (
        node("aten::_fft_c2c", self=dense(2048, dtype="complex32"), normalization=2),
        {"xpu-fft-half-scale"},
    ),
    "a transform in half precision": (
        node("aten::_fft_c2c", self=dense(2048, dtype="complex32"), normalization=0),
        set(),
    ),
    "an inverse transform": (
        node("aten::_fft_c2c", self=dense(2048, dtype="complex64"), normalization=2),
        set(),
    ),
}
