"""Uses that advisories from what vendors' changes tell are about, and others beside."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.offset_uses import on_host
from tests.db.uses_on_accelerators import giving, permuted

INTEGERS, HALF, COLUMN = "int64", "float16", TensorMeta("float32", (4,), (8,))
TURNED = TensorMeta("float32", (3, 4), (1, 3))
BILINEAR = "aten::upsample_bilinear2d_backward"
POOLED, NEAREST = "aten::max_pool2d_with_indices_backward", "aten::upsample_nearest2d"
PLACES, GRADIENTS = dense(2, dtype=INTEGERS), "aten::convolution_backward"
USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of an enlarged portrait": (
        giving(BILINEAR, dense(1, 3, 32, 24), grad_output=dense(1, 3, 64, 48), align_corners=False),
        {"xpu-upsample-gradients-portrait"},
    ),
    "gradients of an enlarged landscape": (
        giving(BILINEAR, dense(1, 3, 24, 32), grad_output=dense(1, 3, 48, 64), align_corners=False),
        set(),
    ),
    "gradients of an enlarged square": (
        giving(BILINEAR, dense(1, 3, 32, 32), grad_output=dense(1, 3, 64, 64), align_corners=False),
        set(),
    ),
    "gradients of an enlarged portrait with aligned corners": (
        giving(BILINEAR, dense(1, 3, 32, 24), grad_output=dense(1, 3, 64, 48), align_corners=True),
        set(),
    ),
    "one image that is pooled into a view": (
        node(
            "aten::adaptive_max_pool2d.out", self=dense(3, 8, 8),
            out=TensorMeta("float32", (3, 2, 2), (8, 2, 1)), indices=dense(3, 2, 2, dtype=INTEGERS),
        ),
        {"xpu-adaptive-max-pool-out"},
    ),
    "images that are pooled into a view": (
        node(
            "aten::adaptive_max_pool2d.out", self=dense(1, 3, 8, 8), out=permuted(1, 3, 2, 2),
            indices=permuted(1, 3, 2, 2, dtype=INTEGERS),
        ),
        set(),
    ),
    "addcmul with a number on the CPU": (
        node("aten::addcmul_", self=dense(4), tensor1=dense(4), tensor2=on_host(dense())),
        {"xpu-addcmul-host-scalar"},
    ),
    "addcmul with a number on the device": (
        node("aten::addcmul_", self=dense(4), tensor1=dense(4), tensor2=dense()), set(),
    ),
    "a Huber loss of float16": (
        node("aten::huber_loss", self=dense(4, dtype=HALF)), {"xpu-huber-half"},
    ),
    "a Huber loss of bfloat16": (
        node("aten::huber_loss", self=dense(4, dtype="bfloat16")), set(),
    ),
    "a row that is added at indices": (
        node(
            "aten::index_put_", self=dense(5, 4), indices=(dense(3, dtype=INTEGERS),),
            values=dense(4), accumulate=True,
        ),
        {"xpu-index-put-broadcast"},
    ),
    "a row that is written at indices": (
        node(
            "aten::index_put_", self=dense(5, 4), indices=(dense(3, dtype=INTEGERS),),
            values=dense(4), accumulate=False,
        ),
        set(),
    ),
    "rows that are added at indices": (
        node(
            "aten::index_put_", self=dense(5, 4), indices=(dense(3, dtype=INTEGERS),),
            values=dense(3, 4), accumulate=True,
        ),
        set(),
    ),
    "samples of a gamma distribution": (
        node("aten::_standard_gamma", self=dense(4)), {"xpu-gamma-stale"},
    ),
    "samples of a normal distribution": (node("aten::normal_", self=dense(4)), set()),
    "a product with a vector that is added to a column": (
        node("aten::addmv_", self=COLUMN, mat=dense(4, 4), vec=dense(4)), {"xpu-addmv-out"},
    ),
    "a product with a vector into a column": (
        node("aten::mv.out", self=dense(4, 4), vec=dense(4), out=COLUMN), {"xpu-addmv-out"},
    ),
    "a product with a vector that is added to a vector": (
        node("aten::addmv_", self=dense(4), mat=dense(4, 4), vec=dense(4)), set(),
    ),
    "immense channels-last images": (
        giving(NEAREST, permuted(33, 64, 1024, 1024), self=permuted(33, 64, 512, 512)),
        {"xpu-upsample-nearest-large", "xpu-upsample-nearest-layout-large"},
    ),
    "large channels-last images": (
        giving(NEAREST, permuted(31, 64, 1024, 1024), self=permuted(31, 64, 512, 512)), set(),
    ),
    "half-precision gradients of pooling by overlapping windows": (
        node(
            POOLED, grad_output=dense(1, 8, 4, 4, dtype=HALF), self=dense(1, 8, 8, 8, dtype=HALF),
            kernel_size=(3, 3), stride=(2, 2),
        ),
        {"xpu-max-pool2d-gradients-half"},
    ),
    "half-precision gradients of pooling by windows side by side": (
        node(
            POOLED, grad_output=dense(1, 8, 4, 4, dtype=HALF), self=dense(1, 8, 8, 8, dtype=HALF),
            kernel_size=(2, 2), stride=(2, 2),
        ),
        set(),
    ),
    "gradients of the loss of very many pixels": (
        node("aten::nll_loss2d_backward", self=dense(65538, 32768, 1, 1), reduction=2),
        {"xpu-nll-loss2d-gradients-large"},
    ),
    "gradients of the loss of many pixels": (
        node("aten::nll_loss2d_backward", self=dense(65535, 32768, 1, 1), reduction=2), set(),
    ),
    "gradients of a convolution to one channels-last channel": (
        node(
            GRADIENTS, grad_output=TensorMeta("float32", (1, 1, 8, 8), (64, 1, 8, 1)),
            input=permuted(1, 3, 8, 8), weight=permuted(1, 3, 3, 3), stride=(1, 1),
        ),
        {"xpu-conv-one-channel-gradients"},
    ),
    "gradients of a convolution to one channel": (
        node(
            GRADIENTS, grad_output=dense(1, 1, 8, 8), input=dense(1, 3, 8, 8),
            weight=dense(1, 3, 3, 3), stride=(1, 1),
        ),
        set(),
    ),
    "gradients of a strided convolution over columns": (
        node(
            GRADIENTS, grad_output=dense(1, 512, 28, 11), input=dense(1, 128, 83, 11),
            weight=dense(512, 128, 5, 1), stride=(3, 1),
        ),
        {"xpu-conv-column-gradients"},
    ),
    "gradients of a convolution over columns": (
        node(
            GRADIENTS, grad_output=dense(1, 512, 83, 11), input=dense(1, 128, 83, 11),
            weight=dense(512, 128, 5, 1), stride=(1, 1),
        ),
        set(),
    ),
    "rows of wider ones that are scaled": (
        node("aten::embedding_renorm_", self=TensorMeta("float32", (9, 4), (8, 1))),
        {"xpu-embedding-renorm-rows"},
    ),
    "rows that are scaled": (node("aten::embedding_renorm_", self=dense(9, 4)), set()),
    "scaled products without a swizzle": (
        node("aten::_scaled_mm_v2", swizzle_a=(), swizzle_b=()), {"xpu-scaled-mm-swizzle"},
    ),
    "scaled products with the swizzle 0": (
        node("aten::_scaled_mm_v2", swizzle_a=(0,), swizzle_b=(0,)), set(),
    ),
    "one number close to many, NaN among them": (
        node("aten::isclose", self=dense(1), other=dense(3), equal_nan=True),
        {"npu-isclose-broadcast"},
    ),
    "one number close to many": (
        node("aten::isclose", self=dense(1), other=dense(3), equal_nan=False), set(),
    ),
    "many numbers close to one, NaN among them": (
        node("aten::isclose", self=dense(3), other=dense(1), equal_nan=True), set(),
    ),
    "elements whose gradient is sparse": (
        node("aten::gather", self=dense(4), dim=0, index=PLACES, sparse_grad=True),
        {"npu-gather-sparse-gradients"},
    ),
    "elements whose gradient is dense": (
        node("aten::gather", self=dense(4), dim=0, index=PLACES), set(),
    ),
    "products with powers of two of integers": (
        node("aten::ldexp.Tensor", self=dense(4, dtype=HALF), other=dense(4, dtype="int32")),
        {"npu-ldexp", "xpu-ldexp"},
    ),
    "products with powers of two on an NPU": (
        node("aten::ldexp.Tensor", self=dense(4), other=dense(4)), {"xpu-ldexp"},
    ),
    "a number on the CPU that is compared": (
        node("aten::gt.Tensor", self=on_host(dense()), other=dense(4)), {"npu-host-scalars"},
    ),
    "a number on the CPU that others are compared with": (
        node("aten::gt.Tensor", self=dense(4), other=on_host(dense())), set(),
    ),
    "a weight on the CPU": (
        node("aten::lerp.Tensor", self=dense(4), end=dense(4), weight=on_host(dense())),
        {"npu-host-scalars"},
    ),
    "a flag on the CPU": (
        node("aten::logical_and", self=dense(4), other=on_host(dense())), {"npu-host-scalars"},
    ),
    "a chance on the CPU": (
        node("aten::bernoulli_.Tensor", self=dense(4), p=on_host(dense())), {"npu-host-scalars"},
    ),
    "an angle with a number on the CPU": (
        node("aten::atan2", self=dense(4), other=on_host(dense())), {"npu-host-scalars"},
    ),
    "an angle": (node("aten::atan2", self=dense(4), other=dense(4)), set()),
    "chunks along the last dimension": (
        node("aten::_chunk_cat", tensors=(dense(2, 3), dense(2, 4)), dim=-1, num_chunks=2),
        {"npu-chunk-cat-negative"},
    ),
    "chunks along the first dimension": (
        node("aten::_chunk_cat", tensors=(dense(2, 3), dense(2, 4)), dim=0, num_chunks=2), set(),
    ),
    "factors without pivots": (
        node("aten::linalg_lu_factor_ex", A=dense(3, 3), pivot=False), {"musa-lu-no-pivot"},
    ),
    "factors": (node("aten::linalg_lu_factor_ex", A=dense(3, 3)), set()),
    "strides of a permuted tensor": (
        node("aten::as_strided", self=permuted(1, 3, 2, 2), size=(2, 2), stride=(1, 2)),
        {"tensorrt-as-strided-layout", "tpu-as-strided-layout"},
    ),
    "gelu in place": (node("aten::gelu_", self=dense(4)), {"musa-gelu-in-place"}),
    "a number that is copied to each place": (
        node("aten::copy_", self=dense(2, 3), src=on_host(dense())), {"musa-copy-broadcast"},
    ),
    "numbers that are copied": (node("aten::copy_", self=dense(2, 3), src=dense(2, 3)), set()),
    "a product with a column into a turned matrix": (
        node("aten::addmm.out", self=dense(3, 1), mat1=dense(3, 2), mat2=dense(2, 4), out=TURNED),
        {"musa-addmm-out"},
    ),
    "a product with a row into a turned matrix": (
        node("aten::addmm.out", self=dense(4), mat1=dense(3, 2), mat2=dense(2, 4), out=TURNED),
        set(),
    ),
    "a product with a column into a matrix": (
        node(
            "aten::addmm.out", self=dense(3, 1), mat1=dense(3, 2), mat2=dense(2, 4),
            out=dense(3, 4),
        ),
        set(),
    ),
    "a product of nothing": (
        giving("aten::prod", dense(), self=dense(0)), {"musa-empty-means"},
    ),
    "means of nothing": (
        giving("aten::mean.dim", dense(3), self=dense(3, 0), dim=(1,)), {"musa-empty-means"},
    ),
    "no means": (giving("aten::mean.dim", dense(0), self=dense(0, 3), dim=(1,)), set()),
    "a norm of nothing": (
        giving("aten::norm.ScalarOpt_dim", dense(), self=dense(0), p=2, dim=()),
        {"musa-empty-norm"},
    ),
    "norms": (
        giving("aten::norm.ScalarOpt_dim", dense(3), self=dense(3, 4), p=2, dim=(1,)), set(),
    ),
    "a sum of int64 in float32": (
        giving("aten::sum", dense(), self=PLACES, dtype="float32"), {"musa-sum-int64"},
    ),
    "a sum of int64": (giving("aten::sum", dense(dtype=INTEGERS), self=PLACES), set()),
    "a mean over None": (
        giving("aten::mean.dim", dense(1, 1), self=dense(3, 4), dim=None, keepdim=True),
        {"musa-mean-none"},
    ),
    "a mean over both dimensions": (
        giving("aten::mean.dim", dense(1, 1), self=dense(3, 4), dim=(0, 1), keepdim=True), set(),
    ),
    "gradients of a batch norm that evaluates": (
        node(
            "aten::native_batch_norm_backward", input=dense(2, 3), weight=dense(3), train=False,
            output_mask=(True, True, True),
        ),
        {"musa-batch-norm-frozen-gradients"},
    ),
    "gradients of a batch norm that trains": (
        node(
            "aten::native_batch_norm_backward", input=dense(2, 3), weight=dense(3), train=True,
            output_mask=(True, True, True),
        ),
        set(),
    ),
    "gradients of a batch norm without a weight": (
        node(
            "aten::native_batch_norm_backward", input=dense(2, 3), weight=None, train=True,
            output_mask=(True, False, False),
        ),
        {"musa-batch-norm-plain-gradients"},
    ),
    "numbers of bfloat16 around zero": (
        giving(
            "aten::arange.start", dense(1024, dtype="bfloat16"), start=-512, end=512,
        ),
        {"musa-arange-half"},
    ),
    "small steps in float16": (
        giving(
            "aten::arange.start_step", dense(70_000, dtype=HALF), start=0, end=7, step=0.0001,
        ),
        {"musa-arange-half"},
    ),
    "a few numbers of float16 around zero": (
        giving("aten::arange.start", dense(1024, dtype=HALF), start=-512, end=512), set(),
    ),
}  # fmt: skip
