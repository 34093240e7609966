"""A run that the chip's memory does not hold."""

from collections.abc import Iterator
from math import ceil

from opcheck.commands.tune.base import Advisor, Ground
from opcheck.commands.tune.values import Advice, Gain
from opcheck.model.text import size
from opcheck.model.trace import Phase

_WIDE = frozenset({"float32", "float64"})


class Room(Advisor):
    """Weights, activations and what a step keeps, against the memory of one device."""

    name = "memory"
    about = "a run that needs more memory than the chip has"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak where the tensors alone do not fit."""
        memory = None if ground.product is None else ground.product.memory
        need = ground.memory
        if memory is None or need.total <= memory.most:
            return
        least = ceil(need.total / memory.most)
        wide = any(leaf.cost.flops and leaf.dtype in _WIDE for leaf in ground.leaves)
        ways = []
        if need.fixed < memory.most and need.batch not in (None, 1):
            ways.append("a smaller batch")
        if need.phase is Phase.OPTIMIZER:
            ways.append(
                "an optimizer that steps parameters one by one (foreach=False), or is fused"
            )
        elif ground.step is not None and not ground.step.checkpointing:
            ways.append("activations computed again in backward")
        if wide:
            ways.append("a dtype of 16 bits")
        ways.append(f"weights spread over {least} devices at least")
        yield self.advice(
            "Make it fit",
            (),
            f"it needs {size(need.total)}; {size(need.weights)} of that are weights; the chip has "
            f"{size(memory.most)}",
            Gain(
                nbytes=round(need.total - memory.most),
                text=f"{size(need.total - memory.most)} are too much",
            ),
            actions=ways,
            evidence=memory.evidence,
            needed=True,
        )
