"""Uses that advisories are about which fixes between releases told of, and others beside."""

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import HALF, SDPA, giving, permuted

TURNED = TensorMeta("float32", (2, 3), (1, 2))
INT32 = dense(3, dtype="int32")
BRAIN = dense(1, 3, 8, 8, dtype="bfloat16")
WHOLE = dense(3, dtype="int64")
LONG = dense(1, 8, 1024, 64, dtype=HALF)
IMAGES = permuted(4, 96, 8, 8, dtype=HALF)
USES: dict[str, tuple[Node, set[str]]] = {
    "adding at indices in half precision": (
        node("aten::index_put_", self=dense(9, dtype=HALF), accumulate=True),
        {"xpu-index-put-half"},
    ),
    "writing at indices": (
        node("aten::index_put_", self=dense(9, dtype=HALF), accumulate=False), set(),
    ),
    "adding at indices": (node("aten::index_put_", self=dense(9), accumulate=True), set()),
    "gradients of tanh in half precision": (
        node("aten::tanh_backward", output=dense(9, dtype=HALF)), {"xpu-tanh-gradients-half"},
    ),
    "gradients of tanh": (node("aten::tanh_backward", output=dense(9)), set()),
    "gradients of hardtanh within 0.7": (
        node("aten::hardtanh_backward", self=dense(9, dtype=HALF), min_val=-1.0, max_val=0.7),
        {"xpu-hardtanh-gradients-bounds"},
    ),
    "gradients of ReLU6": (
        node("aten::hardtanh_backward", self=dense(9, dtype=HALF), min_val=0.0, max_val=6.0),
        set(),
    ),
    "statistics in float64": (
        node("aten::native_batch_norm", input=dense(4, 3, 8, 8, dtype="float64"), training=True),
        {"xpu-batch-norm-float64"},
    ),
    "statistics in float32": (
        node("aten::native_batch_norm", input=dense(4, 3, 8, 8), training=True), set(),
    ),
    "statistics of 96 channels": (
        node("aten::native_batch_norm", input=IMAGES, training=True),
        {"xpu-batch-norm-channels-last"},
    ),
    "96 channels by known statistics": (
        node("aten::native_batch_norm", input=IMAGES, training=False), set(),
    ),
    "statistics of 64 channels": (
        node("aten::batch_norm_stats", input=permuted(4, 64, 8, 8, dtype=HALF)), set(),
    ),
    "chunks of a transposed tensor": (
        node("aten::_chunk_cat", tensors=(dense(2, 3), TURNED)), {"xpu-chunk-cat-layout"},
    ),
    "chunks": (node("aten::_chunk_cat", tensors=(dense(2, 3), dense(4, 3))), set()),
    "half of integers": (
        giving("aten::mul.Tensor", dense(3), self=WHOLE, other=0.5), {"tensorrt-integer-scalars"},
    ),
    "twice integers": (
        giving("aten::mul.Tensor", WHOLE, self=WHOLE, other=2), set(),
    ),
    "integers from a half on": (
        giving("aten::clamp", dense(3), self=WHOLE, min=0.5, max=None),
        {"tensorrt-integer-scalars"},
    ),
    "the root of integers": (
        giving("aten::pow.Tensor_Scalar", dense(3), self=WHOLE, exponent=0.5),
        {"tensorrt-pow-integers"},
    ),
    "integers squared": (
        giving("aten::pow.Tensor_Scalar", WHOLE, self=WHOLE, exponent=2), set(),
    ),
    "integers by a number": (
        giving("aten::div.Tensor", dense(3), self=WHOLE, other=2), {"tensorrt-integer-division"},
    ),
    "integers by integers": (
        giving("aten::div.Tensor", dense(3), self=WHOLE, other=WHOLE),
        {"tensorrt-integer-division"},
    ),
    "int32 by int32": (
        giving(
            "aten::div.Tensor", dense(3), self=INT32, other=INT32,
        ),
        set(),
    ),
    "normalising by an image's own statistics": (
        node(
            "aten::instance_norm", input=dense(1, 3, 8, 8), running_mean=None,
            use_input_stats=True,
        ),
        {"tensorrt-instance-norm"},
    ),
    "normalising by known statistics": (
        node(
            "aten::instance_norm", input=dense(1, 3, 8, 8), running_mean=dense(3),
            use_input_stats=False,
        ),
        set(),
    ),
    "ELU of twice its input": (
        node("aten::elu", self=dense(3), alpha=1.0, scale=1.0, input_scale=2.0),
        {"tensorrt-elu-scales"},
    ),
    "SELU": (
        node("aten::elu", self=dense(3), alpha=1.6732632423543772, scale=1.0507009873554805), set(),
    ),
    "pooling ten rows to four": (
        node("aten::adaptive_avg_pool2d", self=dense(1, 3, 10, 8), output_size=(4, 4)),
        {"tensorrt-adaptive-avg-pool"},
    ),
    "pooling eight rows to four": (
        node("aten::adaptive_avg_pool2d", self=dense(1, 3, 8, 8), output_size=(4, 4)), set(),
    ),
    "trunc of bfloat16": (
        node("aten::trunc", self=dense(3, dtype="bfloat16")), {"tensorrt-trunc-bfloat16"},
    ),
    "trunc of float16": (node("aten::trunc", self=dense(3, dtype=HALF)), set()),
    "distances of thirty points": (
        node("aten::_cdist_forward", x1=dense(30, 2), x2=dense(4, 2), p=2.0, compute_mode=None),
        {"tensorrt-cdist-nan"},
    ),
    "distances of ten points": (
        node("aten::_cdist_forward", x1=dense(10, 2), x2=dense(4, 2), p=2.0, compute_mode=None),
        set(),
    ),
    "the logarithm of nearly one": (
        node("aten::log1p", self=dense(3)), {"tensorrt-expm1-log1p"},
    ),
    "strides of a transposed tensor": (
        node("aten::as_strided", self=TURNED, size=(2, 2), stride=(1, 2)),
        {"tensorrt-as-strided-layout", "tpu-as-strided-layout"},
    ),
    "strides of a tensor": (
        node("aten::as_strided", self=dense(2, 3), size=(2, 2), stride=(1, 2)), set(),
    ),
    "causal attention at a scale": (
        node(SDPA, query=LONG, key=LONG, value=LONG, is_causal=True, scale=0.125),
        {"tensorrt-attention-causal-scale"},
    ),
    "causal attention at its own scale": (
        node(SDPA, query=LONG, key=LONG, value=LONG, is_causal=True, scale=None), set(),
    ),
    "the largest of int32": (
        node("aten::amax", self=dense(3, dtype="int32"), dim=(0,)), {"tensorrt-reduction-int32"},
    ),
    "the largest of int64": (node("aten::amax", self=WHOLE, dim=(0,)), set()),
    "normalising bfloat16 by float32": (
        node("aten::native_batch_norm", input=BRAIN, weight=dense(3), training=False),
        {"tpu-batch-norm-bfloat16", "tpu-batch-norm-half-result"},
    ),
    "normalising float16 by float32": (
        node(
            "aten::native_batch_norm", input=dense(1, 3, 8, 8, dtype=HALF), weight=dense(3),
            training=False,
        ),
        {"tpu-batch-norm-half-result"},
    ),
    "normalising float32": (
        node("aten::native_batch_norm", input=dense(1, 3), weight=dense(3), training=False), set(),
    ),
    "a choice between int64 and float32": (
        node("aten::where.self", condition=dense(3, dtype="bool"), self=WHOLE, other=dense(3)),
        {"tpu-where-mixed"},
    ),
    "a choice between float32": (
        node("aten::where.self", condition=dense(3, dtype="bool"), self=dense(3), other=dense(3)),
        set(),
    ),
    "a stack of int64 and float32": (
        node("aten::stack", tensors=(WHOLE, dense(3)), dim=0), {"tpu-stack-mixed"},
    ),
    "a stack of float32": (node("aten::stack", tensors=(dense(3), dense(3)), dim=0), set()),
    "gradients of GELU in float32 for bfloat16": (
        node("aten::gelu_backward", grad_output=dense(3), self=dense(3, dtype="bfloat16")),
        {"tpu-gelu-gradients-mixed"},
    ),
    "gradients of GELU": (
        node("aten::gelu_backward", grad_output=dense(3), self=dense(3)), set(),
    ),
    "interpolating bfloat16": (
        node("aten::upsample_bilinear2d", self=BRAIN), {"tpu-upsample-bilinear-half"},
    ),
    "interpolating float32": (node("aten::upsample_bilinear2d", self=dense(1, 3, 8, 8)), set()),
    "float16 by a hundred thousand": (
        node("aten::div.Tensor", self=dense(3, dtype=HALF), other=100000.0),
        {"tpu-div-float16", "tpu-div-number-half"},
    ),
    "float16 by a hundred": (
        node("aten::div.Tensor", self=dense(3, dtype=HALF), other=100.0), set(),
    ),
    "a length in float32 of bfloat16": (
        node(
            "aten::norm.ScalarOpt_dim_dtype", self=BRAIN, p=2, dim=(1,),
            dtype=Constant("dtype", "float32"),
        ),
        {"tpu-norm-dtype"},
    ),
    "pixels from channels": (
        node("aten::pixel_shuffle", self=dense(1, 4, 8, 8), upscale_factor=2),
        {"tpu-pixel-shuffle"},
    ),
    "squeezing two dimensions": (
        node("aten::squeeze.dims", self=dense(1, 1, 3), dim=(0, 1)), {"tpu-squeeze-dims"},
    ),
    "squeezing one": (node("aten::squeeze.dims", self=dense(1, 1, 3), dim=(0,)), set()),
    "a product of integers": (
        node("aten::dot", self=WHOLE, tensor=WHOLE), {"tpu-dot-integers"},
    ),
    "a product of float32": (node("aten::dot", self=dense(3), tensor=dense(3)), set()),
    "a loss of two dtypes": (
        node("aten::mse_loss", self=BRAIN, target=dense(1, 3, 8, 8)), {"tpu-mse-loss-mixed"},
    ),
    "a loss": (node("aten::mse_loss", self=dense(3), target=dense(3)), set()),
    "clamping int64 by float32": (
        node("aten::clamp_max.Tensor", self=WHOLE, max=dense(3)), {"tpu-clamp-mixed"},
    ),
    "clamping rows by one row": (
        node("aten::clamp_min.Tensor", self=dense(2, 3), min=dense(3)), {"tpu-clamp-mixed"},
    ),
    "clamping by a scalar tensor": (
        node("aten::clamp_min.Tensor", self=dense(2, 3), min=dense()), set(),
    ),
    "integers clamped at a half": (
        replace(node("aten::clamp", self=WHOLE, min=0.5, max=None), outputs=(dense(3),)),
        {"tpu-integer-scalars"},
    ),
    "integers clamped at one": (
        replace(node("aten::clamp", self=WHOLE, min=1, max=None), outputs=(WHOLE,)), set(),
    ),
    "a remainder of integers by floats": (
        replace(node("aten::remainder.Tensor", self=WHOLE, other=dense(3)), outputs=(dense(3),)),
        {"tpu-remainder-dtype"},
    ),
    "a remainder of floats": (
        replace(node("aten::remainder.Tensor", self=dense(3), other=WHOLE), outputs=(dense(3),)),
        set(),
    ),
    "a choice of float32 after int64": (
        replace(
            node("aten::where.self", condition=dense(3, dtype="bool"), self=WHOLE, other=dense(3)),
            outputs=(dense(3),),
        ),
        {"tpu-where-dtype", "tpu-where-mixed"},
    ),
    "a right shift": (
        node("aten::__rshift__.Scalar", self=INT32, other=4), {"tpu-right-shift"},
    ),
    "a right shift of bytes": (
        node("aten::__rshift__.Scalar", self=dense(3, dtype="uint8"), other=4), set(),
    ),
    "a rounded quotient of integers": (
        replace(node("aten::floor_divide", self=WHOLE, other=WHOLE), outputs=(WHOLE,)),
        {"tpu-integer-division"},
    ),
    "a rounded quotient of floats": (
        replace(node("aten::floor_divide", self=dense(3), other=WHOLE), outputs=(dense(3),)),
        set(),
    ),
    "the largest of all": (node("aten::amax", self=dense(2, 3)), {"tpu-reduce-all"}),
    "the largest of each column": (node("aten::amax", self=dense(2, 3), dim=(0,)), set()),
    "counts of rows": (
        node("aten::count_nonzero", self=dense(2, 3), dim=1), {"tpu-count-nonzero-dim"},
    ),
    "a count": (node("aten::count_nonzero", self=dense(2, 3), dim=None), set()),
    "whole numbers in steps": (
        replace(node("aten::linspace", start=0, end=9, steps=4), outputs=(WHOLE,)),
        {"tpu-linspace-dtype"},
    ),
    "numbers in steps": (
        replace(node("aten::linspace", start=0, end=9, steps=4), outputs=(dense(4),)), set(),
    ),
    "half of an odd image": (
        node("aten::upsample_nearest2d", self=dense(1, 3, 9, 8), scales_h=0.5, scales_w=0.5),
        {"tpu-upsample-scale"},
    ),
    "half of an even image": (
        node("aten::upsample_nearest2d", self=dense(1, 3, 8, 8), scales_h=0.5, scales_w=0.5),
        set(),
    ),
    "half of an odd image, corner to corner": (
        node(
            "aten::upsample_bilinear2d", self=dense(1, 3, 9, 8), align_corners=True, scales_h=0.5,
            scales_w=0.5,
        ),
        set(),
    ),
    "integers below a half": (
        node("aten::lt.Scalar", self=INT32, other=0.5), {"tensorrt-integer-comparisons"},
    ),
    "integers above a half": (node("aten::gt.Scalar", self=INT32, other=0.5), set()),
    "a choice between int64": (
        node("aten::where.self", condition=dense(3, dtype="bool"), self=WHOLE, other=WHOLE),
        {"tensorrt-where-int64"},
    ),
    "the negative of int32": (node("aten::neg", self=INT32), {"tensorrt-neg-int32"}),
    "the negative of int64": (node("aten::neg", self=WHOLE), set()),
    "remainders of int32": (
        node("aten::remainder.Tensor", self=INT32, other=INT32), {"tensorrt-remainder-int32"},
    ),
    "remainders of int64": (node("aten::remainder.Tensor", self=WHOLE, other=WHOLE), set()),
}  # fmt: skip
