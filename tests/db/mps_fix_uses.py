"""Calls that meet an advisory about Apple's GPUs that a fix of PyTorch's tells of."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense
from tests.db.mps_uses import node

ONE = dense()
WIDE = TensorMeta("float32", (2, 2**15, 2**15 + 1), (2**15, 1, 2**16))
LAST = TensorMeta("float32", (2, 3, 4, 4), (48, 1, 12, 3))


def half(*shape: int) -> TensorMeta:
    return dense(*shape, dtype="float16")


def pairs(*shape: int) -> TensorMeta:
    """Complex numbers."""
    return dense(*shape, dtype="complex64")


MPS_FIX_USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of linear": (
        node("linear_backward", self=dense(2, 3, 4, 4), grad_output=LAST, weight=dense(4, 4)),
        {"mps-linear-gradients-channels-last"},
    ),
    "gradients of linear in order": (
        node("linear_backward", self=LAST, grad_output=dense(2, 3, 4, 4), weight=dense(4, 4)),
        set(),
    ),
    "a layer of a language model": (
        node("linear", input=half(2, 13, 64), weight=half(64, 64)),
        {"mps-linear-half-m5"},
    ),
    "a layer with a bias": (
        node("linear", input=half(2, 13, 64), weight=half(64, 64), bias=half(64)), set(),
    ),
    "a long complex product": (
        node("mm", self=pairs(2, 4097), mat2=pairs(4097, 2)), {"mps-complex-products-long"},
    ),
    "a long complex product and a sum": (
        node("addmm", self=pairs(2, 2), mat1=pairs(2, 4097), mat2=pairs(4097, 2)),
        {"mps-complex-products-long"},
    ),
    "a complex product": (node("mm", self=pairs(2, 4096), mat2=pairs(4096, 2)), set()),
    "a source of two dimensions": (
        node("masked_scatter", self=dense(4), source=dense(2, 2)), {"mps-masked-scatter-source"},
    ),
    "a source": (node("masked_scatter", self=dense(4), source=dense(4)), set()),
    "huge columns": (
        node("im2col", dense(1, 2**17, 2**16), self=dense(1, 8, 9, 9)), {"mps-im2col-large"},
    ),
    "columns": (node("im2col", dense(1, 72, 49), self=dense(1, 8, 9, 9)), set()),
    "the largest of too many": (
        node("argmax", self=dense(2**17, 2**16), dim=1), {"mps-argmax-large"},
    ),
    "one element": (node("fill_.Scalar", self=ONE, value=1), {"mps-write-one"}),
    "elements": (node("fill_.Scalar", self=dense(2), value=1), set()),
    "a wide matrix, turned": (
        node("bmm", dense(2, 2**15, 4), self=WIDE, mat2=dense(2, 2**15 + 1, 4)),
        {"mps-bmm-wide-layout"},
    ),
    "a wide matrix": (
        node("bmm", dense(2, 2**16, 4), self=dense(2, 2**16, 2**14), mat2=dense(2, 2**14, 4)),
        set(),
    ),
    "gradients of a language model": (
        node("linear_backward", self=half(2, 3, 4), grad_output=half(2, 3, 4), weight=half(4, 4)),
        {"mps-linear-gradients-half-m5"},
    ),
    "one into one": (
        node("masked_scatter", self=ONE, source=dense(1)), {"mps-masked-scatter-scalar"},
    ),
    "a copy into one": (
        node("index_copy", self=ONE, dim=0, index=ONE, source=dense(1)),
        {"mps-index-copy-scalar"},
    ),
    "a copy into several": (
        node("index_copy", self=dense(3), dim=0, index=ONE, source=dense(1)), set(),
    ),
    "many rows": (
        node("linear", input=dense(2, 20736, 8), weight=dense(9, 8)), {"mps-linear-rows-macos"},
    ),
    "rows": (node("linear", input=dense(2, 4096, 8), weight=dense(9, 8)), set()),
    "huge results": (
        node("bmm", dense(17, 2**14, 2**14), self=dense(17, 2**14, 4), mat2=dense(17, 4, 2**14)),
        {"mps-bmm-results-huge"},
    ),
    "results": (
        node("bmm", dense(16, 2**14, 2**14), self=dense(16, 2**14, 4), mat2=dense(16, 4, 2**14)),
        set(),
    ),
    "the largest of many": (node("argmax", self=dense(2**16, 2**16), dim=1), set()),
    "gradients over many rows": (
        node("linear_backward", self=dense(8, 4096, 64), grad_output=dense(8, 4096, 64),
             weight=dense(64, 64)),
        {"mps-linear-gradients-rows"},
    ),
    "gradients over many batches of few rows": (
        node("linear_backward", self=dense(8194, 4, 128), grad_output=dense(8194, 4, 128),
             weight=dense(128, 128)),
        {"mps-linear-gradients-rows"},
    ),
    "gradients over batches of few rows": (
        node("linear_backward", self=dense(8000, 4, 128), grad_output=dense(8000, 4, 128),
             weight=dense(128, 128)),
        set(),
    ),
    "gradients over fewer rows": (
        node("linear_backward", self=dense(7, 4096, 64), grad_output=dense(7, 4096, 64),
             weight=dense(64, 64)),
        set(),
    ),
    "gradients of many words": (
        node("linear_backward", self=dense(2, 256, 130), grad_output=dense(2, 256, 50257),
             weight=dense(50257, 130)),
        {"mps-long-product"},
    ),
    "a few rows and a slice": (
        node("mm", self=half(2, 1025), mat2=TensorMeta("float16", (1025, 2), (1, 1041))),
        {"mps-mm-half-padding"},
    ),
    "a slice of the last words": (
        node("mm", self=TensorMeta("float16", (2, 64), (1024, 1)),
             mat2=TensorMeta("float16", (64, 99), (1, 64))),
        {"mps-mm-half-padding"},
    ),
    "a slice and a matrix in order": (
        node("mm", self=TensorMeta("float16", (2, 64), (1024, 1)), mat2=half(64, 99)), set(),
    ),
    "a huge turned copy": (
        node("clone", self=TensorMeta("int8", (2**16, 2**17), (1, 2**16))), {"mps-views-huge"},
    ),
    "a huge copy": (node("clone", self=dense(2**16, 2**17, dtype="int8")), set()),
    "a large inverse": (node("linalg_inv_ex", A=dense(1025, 1025)), {"mps-inverse-large"}),
    "an inverse": (node("linalg_inv_ex", A=dense(1024, 1024)), set()),
    "a transform of the first of five": (
        node("_fft_c2c", self=pairs(4, 2, 2, 2, 2), dim=(0,), normalization=0, forward=True),
        {"mps-fft-axis"},
    ),
    "a transform of the second of six": (
        node("_fft_c2c", self=pairs(2, 1, 1, 1, 2, 2), dim=(1, 2), normalization=0, forward=True),
        {"mps-fft-axis"},
    ),
    "a transform of the second of five": (
        node("_fft_c2c", self=pairs(2, 4, 2, 2, 2), dim=(1,), normalization=0, forward=True), set(),
    ),
    "elements of a column": (
        node("gather", self=dense(3, 1), dim=0, index=dense(3, 1, dtype="int64")),
        {"mps-gather-column"},
    ),
    "elements of a row": (
        node("gather", self=dense(1, 3), dim=1, index=dense(1, 3, dtype="int64")), set(),
    ),
    "elements of a huge tensor": (
        node("index.Tensor", self=dense(2**16, 2**17, dtype="int8"), indices=(ONE,)),
        {"mps-index-huge"},
    ),
    "elements of a large tensor": (
        node("index.Tensor", self=dense(2**16, 2**16, dtype="int8"), indices=(ONE,)), set(),
    ),
    "an element without a value": (node("zero_", self=ONE), {"mps-zero-one"}),
    "elements without a value": (node("zero_", self=dense(3)), set()),
    "a column for two": (
        node("copy_", self=dense(2, 2), src=dense(2, 1)), {"mps-copy-broadcast"},
    ),
    "two columns for two": (node("copy_", self=dense(2, 2), src=dense(2, 2)), set()),
}  # fmt: skip
