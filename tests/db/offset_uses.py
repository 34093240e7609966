"""Calls of views that meet an advisory by where they begin in their storage, and others beside."""

from msgspec.structs import replace

from opcheck.model.trace import Constant, Node, TensorMeta
from tests.db.calls import dense, node


def later(tensor: TensorMeta, nbytes: int) -> TensorMeta:
    """The same as a view that begins so many bytes after its storage does."""
    return replace(tensor, offset=nbytes)


def on_host(tensor: TensorMeta) -> TensorMeta:
    """The same in the host's memory."""
    return replace(tensor, host=True)


NUMBER = later(dense(), 4)
BYTES = dense(4, dtype="uint8")
FLAGS, PLACES = dense(16, dtype="bool"), dense(2, dtype="int64")
LAST = TensorMeta("float32", (1, 64, 8, 8), (4096, 1, 512, 64))
CPU, FLOAT = Constant("device", "cpu"), Constant("dtype", "float32")
HALVES = dense(4, 64, dtype="float16")
USES: dict[str, tuple[Node, set[str]]] = {
    "an element of a table on the CPU": (
        node("aten::mul.Tensor", self=dense(4), other=on_host(NUMBER)), {"mps-host-number-view"},
    ),
    "the other way round": (
        node("aten::div.out", self=on_host(NUMBER), other=dense(4)), {"mps-host-number-view"},
    ),
    "an element of a table on the device": (
        node("aten::mul.Tensor", self=dense(4), other=NUMBER), set(),
    ),
    "a number on the CPU": (
        node("aten::mul.Tensor", self=dense(4), other=on_host(dense())), set(),
    ),
    "a double of a table on the CPU": (
        node("aten::mul.Tensor", self=dense(4), other=on_host(later(dense(dtype="float64"), 8))),
        set(),
    ),
    "the larger of a tensor and a number on the CPU": (
        node("aten::fmax", self=dense(4), other=on_host(dense())), {"mps-fmax-host-number"},
    ),
    "the smaller of a number on the CPU and a tensor": (
        node("aten::fmin", self=on_host(dense()), other=dense(4)), {"mps-fmax-host-number"},
    ),
    "the larger of a tensor and a number of the device": (
        node("aten::fmax", self=dense(4), other=dense()), set(),
    ),
    "flags behind the first": (
        node("aten::fill_.Scalar", self=later(FLAGS, 1), value=True), {"mps-fill-bytes-view"},
    ),
    "flags behind the fourth": (
        node("aten::fill_.Scalar", self=later(FLAGS, 4), value=True), set(),
    ),
    "zeros behind the first": (
        node("aten::zero_", self=later(dense(4), 4)), {"mps-fill-slice"},
    ),
    "zeros in a slice": (
        node("aten::fill_.Scalar", self=later(dense(4), 4), value=0.0), {"mps-fill-slice"},
    ),
    "ones in a slice": (node("aten::fill_.Scalar", self=later(dense(4), 4), value=1), set()),
    "flags that are counted behind the first": (
        node("aten::scatter_add_", self=later(FLAGS, 2), dim=0, index=PLACES, src=FLAGS),
        {"mps-accumulate-bool-view"},
    ),
    "flags that are gathered at places": (
        node("aten::_index_put_impl_", self=later(FLAGS, 1), values=FLAGS, accumulate=True),
        {"mps-accumulate-bool-view"},
    ),
    "flags that are put": (
        node("aten::_index_put_impl_", self=later(FLAGS, 1), values=FLAGS, accumulate=False), set(),
    ),
    "a layer norm of later rows": (
        node("aten::native_layer_norm", input=later(dense(2, 4), 16)), {"mps-norm-slice"},
    ),
    "a batch norm of later rows": (
        node("aten::native_batch_norm", input=later(dense(2, 4), 16)), {"mps-norm-slice"},
    ),
    "a layer norm of the first rows": (
        node("aten::native_layer_norm", input=dense(2, 4)), set(),
    ),
    "tokens as an image": (
        node("aten::avg_pool2d", self=later(LAST, 256)), {"mps-channels-last-offset"},
    ),
    "a norm of tokens as an image": (
        node("aten::native_batch_norm", input=later(LAST, 256)),
        {"mps-channels-last-offset", "mps-norm-slice"},
    ),
    "an image of channels": (node("aten::avg_pool2d", self=LAST), set()),
    "the last counts": (
        node("aten::repeat_interleave.Tensor", repeats=later(PLACES, 8)),
        {"mps-repeat-interleave-slice"},
    ),
    "all counts": (node("aten::repeat_interleave.Tensor", repeats=PLACES), set()),
    "halves to the CPU, as floats": (
        node("aten::copy_", self=on_host(later(dense(4, 64), 4)), src=HALVES),
        {"mps-copy-cast-view"},
    ),
    "halves into floats": (
        node("aten::copy_", self=later(dense(4, 64), 256), src=HALVES), {"mps-copy-cast-view"},
    ),
    "floats into floats": (
        node("aten::copy_", self=later(dense(4, 64), 256), src=dense(4, 64)), set(),
    ),
    "later halves as floats on the CPU": (
        node("aten::to.device", self=later(HALVES, 2), device=CPU, dtype=FLOAT),
        {"mps-cast-to-host-slice"},
    ),
    "later halves as floats": (
        node("aten::to.dtype", self=later(HALVES, 2), dtype=FLOAT), set(),
    ),
    "halves to the CPU": (
        node("aten::copy_", self=on_host(later(HALVES, 2)), src=HALVES), {"mps-copy-host-slice"},
    ),
    "halves to the CPU, two later": (
        node("aten::copy_", self=on_host(later(HALVES, 4)), src=HALVES), set(),
    ),
    "bytes with one of many": (
        node("aten::bitwise_and.Tensor", self=BYTES, other=later(dense(dtype="uint8"), 1)),
        {"mps-bitwise-scalar"},
    ),
    "bytes with the first": (
        node("aten::bitwise_and.Tensor", self=BYTES, other=dense(dtype="uint8")), set(),
    ),
    "a product of later halves": (
        node("aten::mm", self=later(HALVES, 2), mat2=HALVES), {"xpu-products-offset"},
    ),
    "a product by later halves": (
        node("aten::baddbmm", batch1=HALVES, batch2=later(HALVES, 32)), {"xpu-products-offset"},
    ),
    "a product of aligned halves": (node("aten::mm", self=later(HALVES, 64), mat2=HALVES), set()),
    "a convolution of the second image": (
        node(
            "aten::convolution_overrideable",
            input=later(dense(1, 3, 7, 7), 4), weight=dense(4, 3, 3, 3),
        ),
        {"xpu-conv-offset"},
    ),
    "a convolution by a later kernel": (
        node(
            "aten::convolution_overrideable",
            input=dense(1, 3, 7, 7), weight=later(dense(4, 3, 3, 3), 4),
        ),
        {"xpu-conv-offset"},
    ),
    "a convolution of the first image": (
        node(
            "aten::convolution_overrideable",
            input=dense(1, 3, 7, 7), weight=dense(4, 3, 3, 3),
        ),
        set(),
    ),
}  # fmt: skip
