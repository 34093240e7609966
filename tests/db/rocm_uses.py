"""Uses that advisories for AMD's GPUs are about, through MIOpen and PyTorch's own kernels."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving, permuted

LSTM = "aten::lstm.input"
TURNED = TensorMeta("float32", (4, 4), (1, 4))
COMPILED, BIAS = "rocm-rnn-compile", "rocm-rnn-bias-rows"
USES: dict[str, tuple[Node, set[str]]] = {
    "dropout between layers": (
        node("aten::gru.input", num_layers=2, dropout=0.2, train=True), {"rocm-rnn-dropout"},
    ),
    "dropout after the only layer": (
        node("aten::gru.input", num_layers=1, dropout=0.2, train=True), set(),
    ),
    "dropout of a model that is not trained": (
        node("aten::gru.input", num_layers=2, dropout=0.2, train=False), set(),
    ),
    "an LSTM of no sequence": (
        node(LSTM, input=dense(5, 0, 3)), {"rocm-rnn-empty", COMPILED},
    ),
    "65537 steps of all sequences": (
        node(LSTM, input=dense(1, 65537, 96), has_biases=True), {BIAS, COMPILED},
    ),
    "65536 steps of all sequences": (
        node(LSTM, input=dense(1, 65536, 96), has_biases=True), {COMPILED},
    ),
    "65537 steps without a bias": (
        node(LSTM, input=dense(1, 65537, 96), has_biases=False), {COMPILED},
    ),
    "an LSTM in float16": (
        node(LSTM, input=dense(3, 2, 4, dtype="float16")), {COMPILED, "rocm-rnn-half-gfx90a"},
    ),
    "an LSTM in bfloat16": (node(LSTM, input=dense(3, 2, 4, dtype="bfloat16")), set()),
    "rows to add, 2**31 elements together": (
        node("aten::index_add", source=dense(524288, 4096), index=dense(524288, dtype="int64")),
        {"rocm-index-add-large"},
    ),
    "fewer rows to add": (
        node("aten::index_add", source=dense(524287, 4096), index=dense(524287, dtype="int64")),
        set(),
    ),
    "interpolation to 65536 rows": (
        giving("aten::upsample_nearest2d", dense(1, 1, 65536, 512), self=dense(1, 1, 32768, 256)),
        {"rocm-upsample-nearest-rows"},
    ),
    "interpolation to 65536 rows of half the width": (
        giving("aten::upsample_nearest2d", dense(1, 1, 65536, 256), self=dense(1, 1, 32768, 128)),
        set(),
    ),
    "a layer of a video's decoder": (
        node(
            "aten::conv3d", input=dense(1, 128, 67, 258, 258, dtype="bfloat16"),
            weight=dense(128, 128, 3, 3, 3, dtype="bfloat16"),
        ),
        {"rocm-conv3d-slow"},
    ),
    "the same in float32": (
        node(
            "aten::conv3d", input=dense(1, 128, 67, 258, 258), weight=dense(128, 128, 3, 3, 3),
        ),
        set(),
    ),
    "ten million of float64 to add": (
        node("aten::scatter_add", src=dense(10_000_000, dtype="float64")),
        {"rocm-scatter-double-slow"},
    ),
    "a few of float64 to add": (
        node("aten::scatter_add", src=dense(1000, dtype="float64")), set(),
    ),
    "the gradient of a gather": (
        node("aten::scatter_add", src=dense(74544)), {"rocm-scatter-slow"},
    ),
    "five million rows to add": (
        node(
            "aten::index_add_", source=dense(5_000_000, 128), index=dense(5_000_000, dtype="int64"),
        ),
        {"rocm-index-add-slow"},
    ),
    "a sum of 2**30": (
        giving("aten::sum", dense(), self=dense(2**30)), {"rocm-sum-slow"},
    ),
    "sums of 2**20 rows": (
        giving("aten::sum.dim_IntList", dense(2**20), self=dense(2**20, 2**10)), set(),
    ),
    "a decoded image": (
        node(
            "aten::conv2d", input=dense(1, 512, 512, 512), weight=dense(512, 512, 3, 3),
        ),
        set(),
    ),
    "a decoded image and its result": (
        giving(
            "aten::conv2d", dense(1, 512, 512, 512), input=dense(1, 512, 512, 512),
            weight=dense(512, 512, 3, 3),
        ),
        {"rocm-conv2d-search"},
    ),
    "gradients of a dilated convolution": (
        node(
            "aten::convolution_backward", input=dense(1, 4, 8, 8), weight=dense(4, 4, 2, 2),
            dilation=(2, 1),
        ),
        {"rocm-conv-dilated-gradients"},
    ),
    "gradients of the convolution": (
        node(
            "aten::convolution_backward", input=dense(1, 4, 8, 8), weight=dense(4, 4, 2, 2),
            dilation=(1, 1),
        ),
        set(),
    ),
    "a spectrogram in patches": (
        node("aten::conv2d", input=dense(10, 1, 128, 66), weight=dense(768, 1, 16, 16)),
        {"rocm-conv-one-channel"},
    ),
    "an image in patches": (
        node("aten::conv2d", input=dense(10, 3, 128, 66), weight=dense(768, 3, 16, 16)), set(),
    ),
    "a product of transposed matrices": (
        node("aten::mm", self=TURNED, mat2=TURNED),
        {"rocm-mm-transposed", "rocm-gfx1100-products"},
    ),
    "a product of one": (
        node("aten::mm", self=TURNED, mat2=dense(2, 3)), {"rocm-gfx1100-products"},
    ),
    "a float8 product with scales of rows": (
        node("aten::_scaled_mm", scale_a=dense(16, 1)), {"rocm-scaled-mm-rows-gfx950"},
    ),
    "a float8 product with one scale": (node("aten::_scaled_mm", scale_a=dense(1)), set()),
    "more columns than rows": (
        node("aten::linalg_lstsq", self=dense(3, 4)), {"rocm-lstsq-wide"},
    ),
    "as many columns as rows": (node("aten::linalg_lstsq", self=dense(4, 4)), set()),
    "an upsampling layer of a decoder": (
        giving(
            "aten::conv_transpose2d.input", dense(1, 256, 256, 256, dtype="bfloat16"),
            input=dense(1, 512, 128, 128, dtype="bfloat16"),
            weight=dense(512, 256, 3, 3, dtype="bfloat16"),
        ),
        {"rocm-conv-transposed-slow"},
    ),
    "the same as float32": (
        giving(
            "aten::conv_transpose2d.input", dense(1, 256, 256, 256),
            input=dense(1, 512, 128, 128), weight=dense(512, 256, 3, 3),
        ),
        {"rocm-conv-transposed-gfx90a"},
    ),
    "a depthwise kernel of 7": (
        node(
            "aten::conv2d", input=dense(8, 192, 56, 56, dtype="bfloat16"),
            weight=dense(192, 1, 7, 7, dtype="bfloat16"), groups=192,
        ),
        {"rocm-depthwise-gfx950"},
    ),
    "a depthwise kernel of 3": (
        node(
            "aten::conv2d", input=dense(8, 192, 56, 56, dtype="bfloat16"),
            weight=dense(192, 1, 3, 3, dtype="bfloat16"), groups=192,
        ),
        set(),
    ),
    "gradients of a depthwise kernel of 3": (
        node(
            "aten::convolution_backward", input=dense(8, 192, 56, 56, dtype="bfloat16"),
            weight=dense(192, 1, 3, 3, dtype="bfloat16"), groups=192,
        ),
        {"rocm-depthwise-gfx950"},
    ),
    "one pixel and a channels-last kernel": (
        node("aten::conv2d", input=dense(1, 16, 1, 1), weight=permuted(8, 16, 3, 3)),
        {"rocm-conv-weight-layout"},
    ),
    "two pixels and a channels-last kernel": (
        node("aten::conv2d", input=dense(1, 16, 2, 1), weight=permuted(8, 16, 3, 3)), set(),
    ),
    "65536 matrices to solve by": (
        node("aten::_cholesky_solve_helper", A=dense(256, 256, 5, 5)),
        {"rocm-cholesky-solve-many"},
    ),
    "fewer matrices to solve by": (
        node("aten::_cholesky_solve_helper", A=dense(255, 257, 5, 5)), set(),
    ),
    "a QR factorization": (node("aten::linalg_qr", A=dense(2048, 2048)), {"rocm-qr-slow"}),
}  # fmt: skip
