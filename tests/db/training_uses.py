"""Uses that advisories of kernels which training calls are about."""

from msgspec.structs import replace

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense, node
from tests.db.uses_on_accelerators import permuted

UNSCALE = "aten::_amp_foreach_non_finite_check_and_unscale_"
BACKWARD, NEXT, NORM = "aten::convolution_backward", "aten::nextafter", "aten::rms_norm"
WORDS, LENGTHS = dense(31, dtype="int32"), dense(1, dtype="int64")


def unscaled(dtype: str) -> Node:
    """Gradients of a dtype that are divided by a scale."""
    return node(UNSCALE, self=(dense(4, 4, dtype=dtype),), found_inf=dense(1), inv_scale=dense(1))


def spoken(words: TensorMeta, blank: int = 0) -> Node:
    """A loss of what is spoken against what is written."""
    return node(
        "aten::_cudnn_ctc_loss.Tensor", log_probs=dense(50, 1, 20), targets=words,
        input_lengths=LENGTHS, target_lengths=LENGTHS, blank=blank,
    )  # fmt: skip


def learned(image: TensorMeta) -> Node:
    """What a convolution's weight learns from an image."""
    return node(BACKWARD, grad_output=image, input=image, weight=dense(24, 24, 3, 3))


USES: dict[str, tuple[Node, set[str]]] = {
    "gradients of bfloat16 that are unscaled": (unscaled("bfloat16"), {"mps-unscale-half"}),
    "gradients of float32 that are unscaled": (unscaled("float32"), set()),
    "the next number of bfloat16": (
        node(NEXT, self=dense(5, dtype="bfloat16"), other=dense(5, dtype="bfloat16")),
        {"mps-nextafter-bfloat16", "mps-nextafter-negative", "xpu-nextafter-bfloat16"},
    ),
    "samples by a tensor": (
        node("aten::bernoulli_.Tensor", self=dense(5), p=dense(5)), {"xpu-bernoulli-arc"},
    ),
    "words of int32 on the device": (spoken(WORDS), {"cuda-ctc-device-words"}),
    "words of int32 on the host": (spoken(replace(WORDS, host=True)), set()),
    "words of int32 and another blank": (spoken(WORDS, 1), set()),
    "a norm of 1024": (node(NORM, input=dense(32, 1024)), {"rms-norm-unfused"}),
    "a weight of channels-last images": (
        learned(permuted(2, 24, 32, 32, dtype="bfloat16")),
        {"mps-conv-weight-gradient-layout", "mps-conv-gradients-layout"},
    ),
    "a weight of contiguous images": (learned(dense(2, 24, 32, 32)), set()),
}  # fmt: skip
