"""Training: layers and gradients left on for inference, and an optimizer of one kernel."""

from collections.abc import Iterator, Mapping

from opcheck.commands.tune.base import THE_MODEL, WORTH, Advisor, Ground, first
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.text import size
from opcheck.model.trace import Node, Phase
from opcheck.model.verdict import Evidence

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
            calls = sum(use.count for use in uses)
            how = (
                "{count} call of {text} as in training, although the model is in evaluation mode"
                if calls == 1
                else "{count} calls of {text} as in training, although the model is in evaluation "
                "mode"
            )
            ops = ", ".join(sorted({str(nodes[use.node].op) for use in uses}))
            drops = [leaf for leaf in ground.leaves if _drops(ground, leaf)]
            differ = "values differ from run to run, or running statistics change"
            yield self.advice(
                "Leave training out of the forward",
                first(sorted({use.module or f"{use.file}:{use.line}" for use in uses})),
                chained([Sentence(how, count=f"{calls:,}", text=ops), differ], "; "),
                ground.gain(sum(map(ground.seconds, drops)), "what dropout takes"),
                lines=("F.dropout(x, p, training=self.training)",),
                needed=True,
            )
        modules = ground.running.costs.in_training
        if modules:
            left = (
                "{count} layer of what {text} gives, left in training mode and other there"
                if len(modules) == 1
                else "{count} layers of what {text} gives, left in training mode and other there"
            )
            found = Sentence(left, count=f"{len(modules):,}", text=ground.source)
            yield self.advice(
                "Call model.eval() before inference",
                first(modules),
                chained([found, "evaluation mode is what was traced"], "; "),
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


class Gradients(Advisor):
    """A forward that switches gradients on again."""

    name = "gradients-in-inference"
    about = "a forward that switches gradients on although nothing is trained"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak in inference, of calls that the trace saw with gradients on."""
        if ground.step is not None:
            return
        uses = [ground.running.trace.uses[i] for i in ground.running.costs.grad_enabled]
        if not uses:
            return
        where = sorted({f"{use.file}:{use.line}" if use.file else use.module for use in uses})
        calls = sum(use.count for use in uses)
        switched = (
            "{count} call with gradients switched on by the model itself"
            if calls == 1
            else "{count} calls with gradients switched on by the model itself"
        )
        lives = "what they take lives until the output is dropped"
        yield self.advice(
            "Do not record gradients in inference",
            first([place or THE_MODEL for place in where]),
            chained([Sentence(switched, count=f"{calls:,}"), lives], "; "),
            Gain(text="not known: it depends on which tensors need gradients"),
            lines=("with torch.no_grad():",),
        )


_TENSORS: Mapping[str, int] = {"adam": 7, "adamw": 7, "sgd": 5, "adagrad": 5}
"""Optimizer -> tensors of a parameter's size that one step reads and writes at least: parameter,
gradient and each state read, and all but the gradient written."""


_CLASSES = {"adam": "Adam", "adamw": "AdamW", "sgd": "SGD", "adagrad": "Adagrad"}


class FusedOptimizer(Advisor):
    """A step that reads and writes parameters and states again for each of its operators."""

    name = "fused-optimizer"
    about = "an optimizer of many kernels, where the vendor has one that steps in a single one"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of steps whose optimizer is not fused."""
        step, costs = ground.step, ground.running.costs
        if step is None or step.optimizer not in _TENSORS:
            return
        stepping = [leaf for leaf in ground.leaves if leaf.phase is Phase.OPTIMIZER]
        if not stepping or any("::_fused_" in leaf.op for leaf in stepping):
            return
        how, evidence = _fused(ground, step.optimizer)
        seconds = sum(map(ground.seconds, stepping))
        bandwidth = ground.roof.bandwidth
        least = _TENSORS[step.optimizer] * costs.trained
        moved = sum(leaf.count * leaf.cost.moved for leaf in stepping)
        saved = seconds - least / bandwidth if bandwidth else 0.0
        if not how or moved <= least or ground.share(saved) < WORTH:
            return
        calls = sum(leaf.count for leaf in stepping)
        of = "{count} call of the optimizer" if calls == 1 else "{count} calls of the optimizer"
        reason = [
            Sentence(of, count=f"{calls:,}"),
            Sentence("{text} moved", text=size(moved)),
            Sentence("parameters, gradients and states once are {text}", text=size(least)),
        ]
        yield self.advice(
            Sentence("Fuse {optimizer}", optimizer=step.optimizer),
            (),
            chained(reason, "; "),
            ground.gain(saved, "where one kernel reads and writes each once"),
            lines=how,
            evidence=evidence,
        )


def _fused(ground: Ground, optimizer: str) -> tuple[tuple[str, ...], tuple[Evidence, ...]]:
    """How to write it on the target, and what says so; ((), ()) where nothing does."""
    op = f"aten::_fused_{optimizer}_"
    entry = ground.running.matrix.entries.get(op)
    if entry is not None:
        return (f"torch.optim.{_CLASSES[optimizer]}(parameters, fused=True)",), entry.evidence[:1]
    for remedy in ground.remedies:
        if op in remedy.ops:
            return (remedy.write,), remedy.evidence[:1]
    return (), ()
