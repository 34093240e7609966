"""Uses that advisories for NVIDIA and AMD alone are about, and others beside."""

from opcheck.model.trace import Constant, Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving, permuted

NORM, NORM_BACKWARD = "aten::native_layer_norm", "aten::native_layer_norm_backward"
FLASH = "aten::_scaled_dot_product_flash_attention"
SDPA, EFFICIENT = (
    "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_efficient_attention",
)  # fmt: skip
NEAREST_BACKWARD = "aten::upsample_nearest2d_backward"
USES: dict[str, tuple[Node, set[str]]] = {
    "a roll of 2**32 elements": (
        node("aten::roll", self=dense(2**16, 2**16), dims=(1,)), {"rocm-roll-large"},
    ),
    "a roll of half as many": (node("aten::roll", self=dense(2**15, 2**16), dims=(1,)), set()),
    "gradients of one image of 2**32 pixels": (
        giving(NEAREST_BACKWARD, dense(1, 1, 2**16, 2**16)), {"rocm-upsample-gradients-launch"},
    ),
    "gradients of two images of 2**31": (
        giving(NEAREST_BACKWARD, dense(2, 1, 2**15, 2**16)), set(),
    ),
    "rows of a table, 2**31 elements together": (
        giving("aten::embedding", dense(131072, 16384), weight=dense(16032, 16384)),
        {"rocm-embedding-large"},
    ),
    "one row fewer": (
        giving("aten::embedding", dense(131071, 16384), weight=dense(16032, 16384)), set(),
    ),
    "a triangle of 2**32 of float64": (
        node("aten::triu", self=dense(2**16, 2**16, dtype="float64")), {"rocm-triangle-large"},
    ),
    "a triangle of 2**32 of float32": (node("aten::triu", self=dense(2**16, 2**16)), set()),
    "144 million rows of 16": (
        node(NORM, input=dense(16, 3000, 3000, 16)), {"rocm-layer-norm-launch"},
    ),
    "9 million rows of 16": (node(NORM, input=dense(1, 3000, 3000, 16)), set()),
    "eigenvalues of a large matrix": (
        node("aten::_linalg_eigh", A=dense(8192, 8192, dtype="float64")), {"rocm-eigh-large"},
    ),
    "the same in float32": (node("aten::_linalg_eigh", A=dense(8192, 8192)), set()),
    "numbers in order beyond 2**32": (
        giving("aten::arange", dense(2**32 + 5, dtype="int64")),
        {"cuda-arange-large", "rocm-arange-launch"},
    ),
    "numbers in order": (giving("aten::arange", dense(2**31, dtype="int64")), set()),
    "layer_norm over more than 2**32 elements": (
        node(NORM, input=dense(2**20 + 1, 4096)), {"cuda-layer-norm-large"},
    ),
    "the same over rows of odd length": (node(NORM, input=dense(2**20 + 512, 4095)), set()),
    "pooling of a large channels-last tensor": (
        node("aten::max_pool2d_with_indices", self=permuted(70, 64, 512, 960)),
        {"cuda-max-pool-large"},
    ),
    "pooling of it in order": (
        node("aten::max_pool2d_with_indices", self=dense(70, 64, 512, 960)), set(),
    ),
    "gradients of layer_norm over two dimensions": (
        node(NORM_BACKWARD, input=dense(100000, 8, 16), weight=dense(8, 16), bias=dense(8, 16)),
        {"cuda-layer-norm-shape-gradients"},
    ),
    "gradients of layer_norm without a weight": (
        node(NORM_BACKWARD, input=dense(100000, 128), bias=dense(128)),
        {"cuda-layer-norm-shape-gradients"},
    ),
    "gradients of layer_norm over one dimension": (
        node(NORM_BACKWARD, input=dense(100000, 128), weight=dense(128), bias=dense(128)), set(),
    ),
    "attention of 65536 sequences": (
        node(SDPA, query=dense(65536, 8, 4, 64, dtype="float16")), {"cuda-attention-batch"},
    ),
    "attention of 65535 sequences": (
        node(SDPA, query=dense(65535, 8, 4, 64, dtype="float16")), set(),
    ),
    "attention of 65536 sequences with dropout": (
        node(SDPA, query=dense(65536, 2, 2, 8), dropout_p=0.1),
        {"cuda-attention-batch", "cuda-attention-dropout-batch"},
    ),
    "attention of 65535 sequences with dropout": (
        node(SDPA, query=dense(65535, 2, 2, 8), dropout_p=0.1), set(),
    ),
    "attention of 65536 heads": (
        node(EFFICIENT, query=dense(1, 65536, 10, 16)), {"cuda-attention-heads"},
    ),
    "attention of 65535 heads": (node(EFFICIENT, query=dense(1, 65535, 10, 16)), set()),
    "gradients of a large flash attention": (
        node(f"{FLASH}_backward", query=dense(400, 4, 10496, 128, dtype="bfloat16")),
        {"cuda-flash-gradients-large"},
    ),
    "gradients of many short sequences": (
        node(f"{FLASH}_backward", query=dense(28800, 16, 15, 72, dtype="bfloat16")),
        {"cuda-flash-gradients-large"},
    ),
    "gradients of 2**31 elements": (
        node(f"{FLASH}_backward", query=dense(512, 4, 8192, 128, dtype="bfloat16")), set(),
    ),
    "gradients under a huge mask": (
        node(
            f"{EFFICIENT}_backward", query=dense(1, 8, 49999, 64), key=dense(1, 8, 49999, 64),
            attn_bias=dense(1, 8, 49999, 49999),
        ),
        {"cuda-attention-mask-gradients"},
    ),
    "gradients under a large mask": (
        node(
            f"{EFFICIENT}_backward", query=dense(1, 8, 46340, 64), key=dense(1, 8, 46340, 64),
            attn_bias=dense(1, 8, 46340, 46340),
        ),
        set(),
    ),
    "patches of a video": (
        node(
            "aten::conv3d", input=dense(1288, 3, 2, 16, 16, dtype="bfloat16"),
            weight=dense(1152, 3, 2, 16, 16, dtype="bfloat16"),
        ),
        {"rocm-patch-embedding", "rocm-conv3d-slow"},
    ),
    "a video of three channels": (
        node(
            "aten::convolution", input=dense(1, 3, 8, 64, 64, dtype="bfloat16"),
            weight=dense(64, 3, 3, 7, 7, dtype="bfloat16"),
        ),
        {"rocm-conv3d-slow"},
    ),
    "gradients of heads of 40": (
        node(
            f"{FLASH}_backward", query=dense(1, 2, 8, 40, dtype="float16"), dropout_p=0.0,
            is_causal=False,
        ),
        {"rocm-attention-gradients-gfx1100"},
    ),
    "heads of 88 with dropout": (
        node(SDPA, query=dense(1, 2, 8, 88, dtype="float16"), dropout_p=0.1),
        {"rocm-attention-gradients-gfx1100", "rocm-attention-math"},
    ),
    "heads of 80": (
        node(SDPA, query=dense(1, 2, 8, 80, dtype="float16")), {"rocm-attention-math"},
    ),
    "patches of an image": (
        node(
            "aten::conv2d", input=dense(16, 3, 16, 16, dtype="bfloat16"),
            weight=dense(768, 3, 16, 16, dtype="bfloat16"),
        ),
        {"rocm-patch-embedding-gfx1100"},
    ),
    "an image of three channels": (
        node(
            "aten::conv2d", input=dense(16, 3, 32, 32, dtype="bfloat16"),
            weight=dense(64, 3, 7, 7, dtype="bfloat16"),
        ),
        set(),
    ),
    "a sparse product of half precision": (
        node("aten::_sparse_mm", sparse=Constant("other", "sparse_coo float16[4,4]")),
        {"rocm-sparse-half"},
    ),
    "a sparse product": (
        node("aten::_sparse_mm", sparse=Constant("other", "sparse_coo float32[4,4]")), set(),
    ),
    "eigenvalues of 40,000 matrices": (
        node("aten::_linalg_eigh", A=dense(40000, 3, 3)), {"cuda-eigh-batch"},
    ),
    "eigenvalues of 16,000 matrices": (node("aten::_linalg_eigh", A=dense(16000, 3, 3)), set()),
    "softmax over classes of huge images": (
        node("aten::_log_softmax", self=dense(64, 64, 1024, 1024), dim=1),
        {"cuda-spatial-softmax-large"},
    ),
    "softmax over classes of images": (
        node("aten::_log_softmax", self=dense(63, 64, 1024, 1024), dim=1), set(),
    ),
    "the likeliest of many words": (
        giving("aten::argmax", dense(dtype="int64"), self=dense(1, 151936)), {"rocm-argmax-race"},
    ),
    "the likeliest of words for many sequences": (
        giving("aten::argmax", dense(64, dtype="int64"), self=dense(64, 151936)), set(),
    ),
    "what is not zero of nearly 2**31": (
        node("aten::nonzero", self=dense(46000, 46000)), {"cuda-nonzero-near"},
    ),
    "what is not zero": (node("aten::nonzero", self=dense(45999, 46000)), set()),
    "gradients of rms_norm over many rows": (
        node("aten::_fused_rms_norm_backward", input=dense(128, 64)), {"rocm-layer-norm-gradients"},
    ),
    "gradients of rms_norm over few": (
        node("aten::_fused_rms_norm_backward", input=dense(127, 64)), set(),
    ),
    "a wide layer of Qwen3-VL": (
        node(
            "aten::mm", self=dense(546, 2560, dtype="bfloat16"),
            mat2=dense(2560, 9728, dtype="bfloat16"),
        ),
        {"rocm-mm-split", "rocm-gfx1100-products"},
    ),
    "a wide layer over few tokens": (
        node(
            "aten::mm", self=dense(512, 2560, dtype="bfloat16"),
            mat2=dense(2560, 9728, dtype="bfloat16"),
        ),
        {"rocm-gfx1100-products"},
    ),
    "a huge image of many channels": (
        node("aten::conv2d", input=dense(1, 514, 2048, 2048), weight=dense(1, 514, 3, 3)),
        {"cuda-conv2d-large"},
    ),
    "an image of 2**31 elements": (
        node("aten::conv2d", input=dense(1, 512, 2048, 2048), weight=dense(1, 512, 3, 3)), set(),
    ),
    "an int8 product of a transposed matrix": (
        node("aten::_int_mm", self=dense(17, 16), mat2=TensorMeta("int8", (16, 16), (1, 16))),
        {"cuda-int8-product"},
    ),
    "an int8 product": (node("aten::_int_mm", self=dense(17, 16), mat2=dense(16, 16)), set()),
}  # fmt: skip
