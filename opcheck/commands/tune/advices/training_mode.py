"""Layers that compute as in training where the model is to infer."""

from collections.abc import Iterator

from opcheck.commands.tune.base import Advisor, Ground, first
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf
from opcheck.model.text import plural
from opcheck.model.trace import Node

_DROPOUTS = frozenset(
    {"dropout", "dropout_", "native_dropout", "feature_dropout", "feature_dropout_",
     "alpha_dropout", "alpha_dropout_", "feature_alpha_dropout", "_fused_dropout"}
)  # fmt: skip
_NORMS = frozenset(
    {"batch_norm", "native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm",
     "miopen_batch_norm", "_batch_norm_impl_index", "_batch_norm_with_update"}
)  # fmt: skip


class TrainingMode(Advisor):
    """Dropout that drops and batch norm that uses its batch, in inference."""

    name = "training-mode"
    about = (
        "dropout or batch norm that runs as in training in a forward, or that the user's own "
        "model leaves in training mode"
    )

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak in inference alone."""
        if ground.step is not None:
            return
        nodes = ground.running.trace.nodes
        uses = [use for use in ground.running.trace.uses if _trains(nodes[use.node])]
        if uses:
            calls = plural(sum(use.count for use in uses), "call")
            ops = ", ".join(sorted({str(nodes[use.node].op) for use in uses}))
            drops = [leaf for leaf in ground.leaves if _drops(ground, leaf)]
            yield self.advice(
                "Leave training out of the forward",
                first(sorted({use.module or f"{use.file}:{use.line}" for use in uses})),
                f"{calls} of {ops} as in training, although the model is in evaluation mode; "
                "values differ from run to run, or running statistics change",
                ground.gain(sum(map(ground.seconds, drops)), "what dropout takes"),
                lines=("F.dropout(x, p, training=self.training)",),
                needed=True,
            )
        modules = ground.running.costs.in_training
        if modules:
            yield self.advice(
                "Call model.eval() before inference",
                first(modules),
                f"{plural(len(modules), 'layer')} of what {ground.source} gives, left in training "
                "mode and other there; evaluation mode is what was traced",
                Gain(text="not known: values are wrong without it"),
                lines=("model.eval()",),
                needed=True,
            )


def _trains(node: Node) -> bool:
    """Whether a call drops values, or takes the statistics of its batch although it has others."""
    given = dict(node.arguments)
    if node.op.base in _DROPOUTS:
        rate = given.get("p", 0.5)
        return given.get("train", True) is True and rate != 0
    if node.op.base in _NORMS:
        training = given.get("training", given.get("train", given.get("use_input_stats")))
        return training is True and given.get("running_mean") is not None
    return False


def _drops(ground: Ground, leaf: Leaf) -> bool:
    node = ground.running.trace.nodes[ground.use(leaf).node]
    return node.op.base in _DROPOUTS and _trains(node)
