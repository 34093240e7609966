"""An optimizer that steps all parameters in one kernel."""

from collections.abc import Iterator, Mapping

from opcheck.commands.tune.base import WORTH, Advisor, Ground
from opcheck.commands.tune.values import Advice
from opcheck.model.text import plural, size
from opcheck.model.trace import Phase
from opcheck.model.verdict import Evidence

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
        calls = plural(sum(leaf.count for leaf in stepping), "call")
        yield self.advice(
            f"Fuse {step.optimizer}",
            (),
            f"{calls} of the optimizer; {size(moved)} moved; parameters, gradients and states once "
            f"are {size(least)}",
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
