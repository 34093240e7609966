"""Calls of layers, losses and optimizers that meet an advisory about Apple's GPUs, or none."""

from opcheck.model.trace import Node, TensorMeta
from tests.db.calls import dense
from tests.db.mps_uses import node

LABELS = dense(4, dtype="int64")
HALVES = dense(1, 2, 4, 4, dtype="float16")
MPS_LAYER_USES: dict[str, tuple[Node, set[str]]] = {
    "a loss whose padding is -100": (
        node("nll_loss_forward", self=dense(4, 3), target=LABELS, reduction=1, ignore_index=-100),
        {"mps-nll-loss-ignored"},
    ),
    "a loss whose padding is 0": (
        node("nll_loss_forward", self=dense(4, 3), target=LABELS, reduction=1, ignore_index=0),
        set(),
    ),
    "losses whose padding is -100": (
        node("nll_loss_forward", self=dense(4, 3), target=LABELS, reduction=0, ignore_index=-100),
        set(),
    ),
    "a fused step of scaled gradients": (
        node("_fused_adamw_", self=(dense(3),), grad_scale=dense(), found_inf=dense()),
        {"mps-fused-optimizer-scale"},
    ),
    "a fused step": (node("_fused_adamw_", self=(dense(3),)), set()),
    "a normalised image": (
        node("native_group_norm", input=dense(1, 256, 64, 65)), {"mps-group-norm-slow"},
    ),
    "a normalised thumbnail": (node("native_group_norm", input=dense(1, 256, 8, 8)), set()),
    "gradients of a frozen batch norm": (
        node(
            "native_batch_norm_backward", input=dense(2, 3), weight=dense(3), train=True,
            output_mask=(True, False, False),
        ),
        {"mps-batch-norm-gradients-frozen", "mps-batch-norm-gradients-frozen-newer"},
    ),
    "gradients of a norm without a weight": (
        node(
            "native_batch_norm_backward", input=dense(2, 3), weight=None, train=True,
            output_mask=(True, False, False),
        ),
        {"musa-batch-norm-plain-gradients"},
    ),
    "scores of 4 GiB": (
        node("_softmax", dense(2, 23171, 23171), self=dense(2, 23171, 23171)),
        {"mps-results-4-gib"},
    ),
    "scores of 2 GiB": (
        node(
            "_softmax", dense(2, 23171, 23171, dtype="float16"),
            self=dense(2, 23171, 23171, dtype="float16"),
        ),
        set(),
    ),
    "8192 queries": (
        node(
            "_scaled_dot_product_attention_math_for_mps", query=dense(1, 32, 8192, 128),
            key=dense(1, 32, 8192, 128), value=dense(1, 32, 8192, 128),
        ),
        {"mps-attention-long-slow"},
    ),
    "4096 queries": (
        node(
            "_scaled_dot_product_attention_math_for_mps", query=dense(1, 32, 4096, 128),
            key=dense(1, 32, 4096, 128), value=dense(1, 32, 4096, 128),
        ),
        set(),
    ),
    "averages by a divisor": (
        node("avg_pool2d", self=HALVES, kernel_size=(2, 2), divisor_override=3),
        {"mps-avg-pool-divisor-half"},
    ),
    "averages": (
        node("avg_pool2d", self=HALVES, kernel_size=(2, 2), divisor_override=None), set(),
    ),
    "gradients of halves that lie as channels_last": (
        node("convolution_backward", input=TensorMeta("float16", (1, 2, 4, 4), (32, 1, 8, 2))),
        {"mps-conv-gradients-half"},
    ),
    "gradients of halves": (node("convolution_backward", input=HALVES), set()),
    "a loss of halves": (
        node("nll_loss_forward", self=dense(4, 3, dtype="float16"), target=LABELS),
        {"mps-nll-loss-half"},
    ),
    "a loss": (node("nll_loss_forward", self=dense(4, 3), target=LABELS), set()),
    "a video": (
        node("conv3d", input=dense(1, 16, 8, 96, 96), weight=dense(8, 16, 1, 3, 3)),
        {"mps-conv3d-slow", "mps-conv3d-macos-26"},
    ),
    "a frame": (node("conv2d", input=dense(1, 16, 768, 96), weight=dense(8, 16, 3, 3)), set()),
    "gradients of normalised volumes": (
        node("native_batch_norm_backward", input=dense(1, 2, 4, 4, 4)),
        {"mps-batch-norm-3d-slow"},
    ),
    "gradients of normalised images": (
        node("native_batch_norm_backward", input=dense(1, 2, 4, 4)), set(),
    ),
    "a GRU of many steps": (
        node("gru.input", input=dense(1, 128, 8), batch_first=True), {"mps-gru-slow"},
    ),
    "a GRU of many steps, the first dimension": (
        node("gru.input", input=dense(128, 1, 8), batch_first=False), {"mps-gru-slow"},
    ),
    "a GRU of many sequences": (
        node("gru.input", input=dense(1, 128, 8), batch_first=False), set(),
    ),
}  # fmt: skip
