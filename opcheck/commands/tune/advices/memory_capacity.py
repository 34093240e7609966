"""What fits into the chip's memory: a run that does not, and more examples at once."""

from collections.abc import Iterator
from math import ceil

from msgspec.structs import replace

from opcheck.commands.tune.base import Advisor, Ground
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.text import percent, size
from opcheck.model.trace import Phase

_WORTH = 0.03
"""Part of the time of one example that a larger batch must save."""
_ENOUGH = 1.02
"""A batch is enough whose examples take no more than so much longer than in the largest."""
_DOUBLINGS = 16


class BatchSize(Advisor):
    """Weights that are read again for each small batch."""

    name = "batch-size"
    about = "a batch whose weights take longer to read than its examples take, where there is room"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of the smallest batch from which a larger one brings next to nothing."""
        batch = ground.memory.batch
        most = largest_batch(ground)
        if batch is None or most is None or most < 2 * batch or not ground.bound.seconds:
            return
        each = {batch: ground.bound.seconds / batch}
        larger = batch
        for _ in range(_DOUBLINGS):
            larger *= 2
            if larger > most:
                break
            each[larger] = _seconds(ground, larger / batch) / larger
        best = min(each.values())
        enough = min(size for size, seconds in each.items() if seconds <= best * _ENOUGH)
        saved = 1 - each[enough] / each[batch]
        if saved < _WORTH:
            return
        gain = ground.gain(
            saved * ground.bound.seconds,
            Sentence("of the time of each example, at a batch of {count}", count=enough),
        )
        still = sum(leaf.count * _still(leaf) for leaf in ground.leaves)
        moved = sum(leaf.count * leaf.cost.moved for leaf in ground.leaves)
        needed = ground.memory.fixed + _growing(ground) * enough / batch
        yield self.advice(
            Sentence("Use a batch of {count}", count=enough),
            (),
            chained([_share(still / moved), _need(enough, needed, _capacity(ground) or 0)], "; "),
            gain,
            evidence=ground.evidence("memory", "bandwidth"),
        )


def _share(still: float) -> Sentence:
    return Sentence(
        "{percent} of the bytes that move do not grow with a batch, as weights do not",
        percent=percent(still),
    )


def _need(batch: int, needed: float, capacity: float) -> Sentence:
    return Sentence(
        "{count} need {text} of {text_whole} of memory",
        count=batch,
        text=size(needed),
        text_whole=size(capacity),
    )


def largest_batch(ground: Ground) -> int | None:
    """How many examples memory has room for, if all that lives at once grows with them.

    None where no batch is seen, or the memory is not known; 0 where not even one fits.
    """
    batch, capacity = ground.memory.batch, _capacity(ground)
    growing = _growing(ground)
    if not batch or capacity is None or not growing:
        return None
    return max(int((capacity - ground.memory.fixed) * batch / growing), 0)


def _growing(ground: Ground) -> int:
    return ground.memory.inputs + ground.memory.activations


def _capacity(ground: Ground) -> float | None:
    known = ground.product is not None and ground.product.memory is not None
    return ground.product.memory.value if known else None  # type: ignore[union-attr]  # it is known


def _seconds(ground: Ground, times: float) -> float:
    """The least time of a run on so many times the examples."""
    leaves = (_larger(leaf, times) for leaf in ground.leaves)
    return ground.roof.total(leaves).seconds or 0.0


def _still(leaf: Leaf) -> int:
    """Bytes that one call moves whatever the batch."""
    return leaf.cost.moved if leaf.phase is Phase.OPTIMIZER else leaf.cost.weights


def _larger(leaf: Leaf, times: float) -> Leaf:
    """The leaf on more examples: what it takes of the weights stays as it is."""
    if leaf.phase is Phase.OPTIMIZER:
        return leaf
    cost = leaf.cost
    return replace(
        leaf,
        cost=replace(
            cost,
            flops=None if cost.flops is None else round(cost.flops * times),
            read=cost.weights + round((cost.read - cost.weights) * times),
            written=round(cost.written * times),
        ),
    )


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
        ways: list[str] = []
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
        ways.append(Sentence("weights spread over {count} devices at least", count=least))
        reason = [
            Sentence("it needs {text}", text=size(need.total)),
            Sentence("{text} of that are weights", text=size(need.weights)),
            Sentence("the chip has {text}", text=size(memory.most)),
        ]
        over = need.total - memory.most
        yield self.advice(
            "Make it fit",
            (),
            chained(reason, "; "),
            Gain(nbytes=round(over), text=Sentence("{text} are too much", text=size(over))),
            actions=ways,
            evidence=memory.evidence,
            needed=True,
        )
