"""Calls of layers, losses and optimizers that meet an advisory about Apple's GPUs, or none."""

from opcheck.model.trace import Node
from tests.db.calls import dense
from tests.db.mps_uses import node

LABELS = dense(4, dtype="int64")
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
}  # fmt: skip
