"""Uses that advisories for AMD's GPUs are about, through MIOpen and PyTorch's own kernels."""

from opcheck.model.trace import Node
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import giving

LSTM = "aten::lstm.input"
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
    "a QR factorization": (node("aten::linalg_qr", A=dense(2048, 2048)), {"rocm-qr-slow"}),
}  # fmt: skip
