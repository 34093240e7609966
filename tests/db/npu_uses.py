"""Calls that meet an advisory about Chinese vendors' kernels, and some that meet none."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta, Value
from tests.db.calls import dense, node

PAIRS, HALF = "complex64", "float16"
APART = TensorMeta("float16", (2, 3), (2**31, 2**10))
PIXELS = TensorMeta("float32", (2, 3, 4, 4), (48, 1, 12, 3))
NEAR = TensorMeta("float16", (2, 3), (2**20, 2**10))
LONGS, WIDE = dense(3, dtype="int64"), dense(3, dtype="float64")
BELOW: dict[str, Value] = {"self": LONGS, "from": -(2**50), "to": 0}


def fft(*shape: int, dim: tuple[int, ...]) -> Node:
    """A transform of complex numbers."""
    return node("aten::_fft_c2c", self=dense(*shape, dtype=PAIRS), dim=dim, normalization=0)


def lstm(**arguments: Value) -> Node:
    """An LSTM of one layer and direction, with biases, and what else is said of it."""
    plain: dict[str, Value] = {"has_biases": True, "num_layers": 1, "bidirectional": False}
    return node("aten::lstm.input", **{**plain, **arguments})


def packing(number: int, *, wanted: bool) -> Node:
    """So many sequences are packed, with or without gradients."""
    call = node("aten::_pack_padded_sequence", input=dense(number, 5, 4), lengths=dense(number))
    return replace(call, modes=(("gradient", "wanted"),)) if wanted else call


USES: dict[str, tuple[Node, set[str]]] = {
    "a transform of a column": (fft(8, 1, dim=(0,)), {"npu-fft-last-of-one"}),
    "a transform of a row": (fft(8, 1, dim=(1,)), set()),
    "a transform of two dimensions": (fft(8, 1, dim=(0, 1)), set()),
    "a transform of single elements": (fft(4, 3, 1, dim=(2,)), {"npu-fft-ones"}),
    "a transform of three elements": (fft(4, 3, 2, dim=(1,)), set()),
    "norms of a list": (
        node("aten::_foreach_norm.Scalar", self=(dense(3), dense(4))), {"npu-foreach-norm-shape"},
    ),
    "norms of third order": (
        node("aten::_foreach_norm.Scalar", self=(dense(3), dense(4)), ord=3), set(),
    ),
    "quotients with twenty factors": (
        node("aten::_foreach_addcdiv_.Tensor", self=(dense(3),), scalars=dense(20)),
        {"npu-foreach-addc-scalars"},
    ),
    "new products with fourteen factors": (
        node("aten::_foreach_addcmul.Tensor", self=(dense(3),), scalars=dense(14)),
        {"npu-foreach-addc-scalars"},
    ),
    "products with fourteen factors": (
        node("aten::_foreach_addcmul_.Tensor", self=(dense(3),), scalars=dense(14)), set(),
    ),
    "a fused step of scaled gradients": (
        node("aten::_fused_adamw_", self=(dense(3),), grad_scale=dense(), found_inf=dense()),
        {"npu-fused-adamw-scale"},
    ),
    "a fused step that is told of infinities alone": (
        node("aten::_fused_adamw_", self=(dense(3),), found_inf=dense()),
        {"npu-fused-adamw-scale"},
    ),
    "a fused step": (node("aten::_fused_adamw_", self=(dense(3),)), set()),
    "a packed GRU of two sequences": (
        node("aten::gru.data", data=dense(8, 4), hx=dense(1, 2, 4)), {"npu-packed-layers"},
    ),
    "a packed GRU of one sequence": (
        node("aten::gru.data", data=dense(5, 4), hx=dense(1, 1, 4)), set(),
    ),
    "a packed LSTM": (node("aten::lstm.data", data=dense(8, 4), num_layers=1), set()),
    "two sequences that learn are packed": (
        packing(2, wanted=True), {"npu-pack-gradients"},
    ),
    "two sequences are packed": (packing(2, wanted=False), set()),
    "one sequence that learns is packed": (packing(1, wanted=True), set()),
    "unpacked with infinity": (
        node("aten::_pad_packed_sequence", data=dense(8, 4), padding_value=float("-inf")),
        {"npu-unpack-padding"},
    ),
    "unpacked with zeros": (
        node("aten::_pad_packed_sequence", data=dense(8, 4), padding_value=0.0), set(),
    ),
    "bags that leave an index out": (
        node("aten::_embedding_bag", weight=dense(8, 4), padding_idx=0),
        {"mlu-embedding-bag-padding"},
    ),
    "bags that leave none out": (
        node("aten::_embedding_bag", weight=dense(8, 4), padding_idx=-1), set(),
    ),
    "places in a sequence with its order": (
        node("aten::searchsorted.Tensor", self=dense(3), sorter=LONGS),
        {"npu-searchsorted-sorter"},
    ),
    "an LSTM of two layers": (lstm(num_layers=2), {"npu-lstm-parameters"}),
    "an LSTM of two directions": (lstm(bidirectional=True), {"npu-lstm-parameters"}),
    "an LSTM without biases": (lstm(has_biases=False), {"npu-lstm-parameters"}),
    "an LSTM of one layer with biases": (lstm(), set()),
    "rows that lie far apart": (node("aten::clone", self=APART), {"npu-strided-large"}),
    "rows that lie far apart, copied": (
        node("aten::copy_", self=dense(2, 3), src=APART), {"npu-strided-large"},
    ),
    "rows that lie near": (node("aten::clone", self=NEAR), set()),
    "halves and a product of float32": (
        node("aten::addcmul", self=dense(3, dtype=HALF), tensor1=dense(3), tensor2=dense(3)),
        {"npu-addcmul-dtype"},
    ),
    "halves and a product of halves": (
        node("aten::addcmul", self=dense(3, dtype=HALF), tensor1=dense(3, dtype=HALF)), set(),
    ),
    "bounds of no elements": (
        node("aten::clamp.Tensor", self=dense(0, 1), min=dense(1, 5)), {"npu-clamp-empty"},
    ),
    "bounds with more dimensions": (
        node("aten::clamp.Tensor", self=dense(0), max=dense(2, 1)), {"npu-clamp-empty"},
    ),
    "bounds as large as no elements": (
        node("aten::clamp.Tensor", self=dense(0, 5), min=dense(1, 5)), set(),
    ),
    "a spectrogram of no signals": (
        node("aten::stft.center", self=dense(0, 400), n_fft=16), {"npu-stft-empty"},
    ),
    "a spectrogram": (node("aten::stft.center", self=dense(2, 400), n_fft=16), set()),
    "many places to fill": (
        node("aten::index_fill_.int_Scalar", self=dense(999), index=dense(100, dtype="int64")),
        {"npu-index-fill-slow"},
    ),
    "few places to fill": (
        node("aten::index_fill_.int_Scalar", self=dense(999), index=dense(99, dtype="int64")),
        set(),
    ),
    "rows that move round": (
        node("aten::roll", self=dense(2, 3), shifts=(1,), dims=(-2,)), {"mlu-roll-negative"},
    ),
    "a matrix that moves round": (
        node("aten::roll", self=dense(2, 3), shifts=(1, 1), dims=(-2, -1)), {"mlu-roll-negative"},
    ),
    "columns that move round": (
        node("aten::roll", self=dense(2, 3), shifts=(1,), dims=(1,)), set(),
    ),
    "all pixels of channels-last images that move round": (
        node("aten::roll", self=PIXELS, shifts=(1,)), {"mlu-roll-layout"},
    ),
    "rows of channels-last images that move round": (
        node("aten::roll", self=PIXELS, shifts=(1,), dims=(2,)), set(),
    ),
    "rounded by 41": (
        node("aten::floor_divide", self=dense(3), other=41), {"mlu-floor-number"},
    ),
    "rounded by 0.1": (
        node("aten::div.Tensor_mode", self=dense(3), other=0.1, rounding_mode="trunc"),
        {"mlu-floor-number"},
    ),
    "rounded by ten": (node("aten::floor_divide", self=dense(3), other=10), set()),
    "rounded by a tensor": (node("aten::floor_divide", self=dense(3), other=dense()), set()),
    "a permutation": (node("aten::randperm", n=8), {"mlu-randperm"}),
    "a permutation of one number": (node("aten::randperm", n=1), set()),
    "integers of 64 bits": (
        node("aten::random_", self=LONGS), {"mlu-random-range"},
    ),
    "integers below the 48th bit": (
        node("aten::random_.to", self=LONGS, to=2**47 - 1), set(),
    ),
    "integers from below": (
        node("aten::random_.from", **BELOW),
        {"mlu-random-range"},
    ),
    "integers of 32 bits": (node("aten::random_", self=dense(3, dtype="int32")), set()),
    "a sum of products that alpha scales": (
        node("aten::addbmm", self=dense(2, 2), beta=0, alpha=2),
        {"mlu-addbmm-alpha", "mlu-addbmm-beta"},
    ),
    "a sum of products alone": (
        node("aten::addbmm", self=dense(2, 2), beta=0, alpha=1), {"mlu-addbmm-beta"},
    ),
    "a sum of products and another": (
        node("aten::addbmm", self=dense(2, 2), beta=1, alpha=2), set(),
    ),
    "a hundred elements put": (
        node("aten::put_", self=dense(900), index=dense(100, dtype="int64")), {"mlu-put-slow"},
    ),
    "an element put": (node("aten::put_", self=dense(9), index=dense(1, dtype="int64")), set()),
    "filled with the least number": (
        node("aten::masked_fill.Scalar", self=WIDE, value=-1.7976931348623157e308),
        {"mlu-double-fill"},
    ),
    "filled with the largest number": (
        node("aten::fill_.Scalar", self=WIDE, value=1.7976931348623157e308), {"mlu-double-fill"},
    ),
    "filled with infinity": (
        node("aten::masked_fill.Scalar", self=WIDE, value=float("-inf")), set(),
    ),
    "filled with one": (node("aten::fill_.Scalar", self=WIDE, value=1.0), set()),
    "many repeats": (
        node("aten::repeat_interleave.Tensor", repeats=dense(2**24 + 2, dtype="int64")),
        {"mlu-repeat-interleave-large"},
    ),
    "repeats": (
        node("aten::repeat_interleave.Tensor", repeats=dense(2**24, dtype="int64")), set(),
    ),
    "adaptive maxima": (
        node("aten::adaptive_max_pool2d", self=dense(1, 4, 4), output_size=(2, 2)),
        {"mlu-adaptive-max-indices"},
    ),
    "the maximum of a plane": (
        node("aten::adaptive_max_pool2d", self=dense(1, 4, 4), output_size=(1, 1)), set(),
    ),
    "gradients of two and a half times as many pixels": (
        node("aten::upsample_bilinear2d_backward", align_corners=False, scales_h=2.5, scales_w=2.5),
        {"mlu-upsample-gradients"},
    ),
    "gradients of pixels to a size": (
        node("aten::upsample_bilinear2d_backward", align_corners=False, scales_h=None), set(),
    ),
    "gradients of pixels at corners": (
        node("aten::upsample_bilinear2d_backward", align_corners=True, scales_h=2.5), set(),
    ),
    "sorted numbers": (node("aten::sort.stable", self=dense(3)), {"mlu-sort-nan"}),
    "sorted integers": (node("aten::sort.stable", self=LONGS), set()),
    "numbers cast to bytes": (
        node("aten::_to_copy", self=dense(3), dtype="uint8"), {"mlu-cast-uint8"},
    ),
    "numbers cast to integers": (node("aten::_to_copy", self=dense(3), dtype="int32"), set()),
    "a thousand elements taken": (
        node("aten::take", self=dense(9), index=dense(1000, dtype="int64")), {"mlu-take-slow"},
    ),
    "some elements taken": (
        node("aten::take", self=dense(9), index=dense(999, dtype="int64")), set(),
    ),
    "gradients of hardswish": (
        node("aten::hardswish_backward", grad_output=dense(3), self=dense(3)),
        {"npu-hardswish-gradients"},
    ),
    "gradients of hardswish in float64": (
        node("aten::hardswish_backward", self=dense(3, dtype="float64")), set(),
    ),
    "rows into every other row": (
        node("aten::index_select.out", self=dense(4, 3), out=TensorMeta("float32", (2, 3), (6, 1))),
        {"musa-index-select-out"},
    ),
    "rows into rows": (
        node("aten::index_select.out", self=dense(4, 3), out=dense(2, 3)), set(),
    ),
    "gradients of the exact GELU": (
        node("aten::gelu_backward", grad_output=dense(3), self=dense(3)), {"mlu-gelu-gradients"},
    ),
    "gradients of the approximate GELU": (
        node("aten::gelu_backward", grad_output=dense(3), self=dense(3), approximate="tanh"),
        set(),
    ),
}  # fmt: skip
