"""The memory format that the chip's convolutions are best in."""

from collections.abc import Iterator

from opcheck.commands.tune.base import Advisor, Ground, first, places
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import convolves
from opcheck.model.text import percent, plural
from opcheck.model.trace import Node

_MOST = 0.1
"""Part of all products that convolutions must be."""
_CHANNELS_LAST = {"channels_last": 4, "channels_last_3d": 5}
"""Memory format -> dimensions of the tensors that can have it."""


class MemoryFormat(Advisor):
    """Convolutions of contiguous tensors, on a chip that is better in ``channels_last``."""

    name = "memory-format"
    about = "convolutions of contiguous tensors, on a chip whose vendor names another format"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of models in which convolutions are a good part of the work."""
        for form in ground.chip.formats:
            dimensions = _CHANNELS_LAST.get(form.name)
            found = [
                leaf
                for leaf in ground.leaves
                if leaf.cost.flops
                and convolves(leaf.op)
                and _is_contiguous(ground.node(leaf), dimensions)
            ]
            everything = sum(leaf.count * (leaf.cost.flops or 0) for leaf in ground.leaves)
            counted = sum(leaf.count * (leaf.cost.flops or 0) for leaf in found)
            if not found or counted < _MOST * everything:
                continue
            calls = plural(sum(leaf.count for leaf in found), "convolution")
            yield self.advice(
                f"Use the memory format {form.name}",
                first(places(ground, found)),
                f"{calls}, {percent(counted / everything)} of all products, take contiguous "
                f"tensors; the chip is best in {form.name}, for {form.text}",
                Gain(text="not known"),
                lines=(
                    f"model.to(memory_format=torch.{form.name})",
                    f"x = x.to(memory_format=torch.{form.name})",
                ),
                evidence=form.evidence,
            )


def _is_contiguous(node: Node, dimensions: int | None) -> bool:
    """Whether a convolution's input has channels and places, and channels first."""
    for name, tensor in node.tensors():
        if name in ("input", "self"):
            many = len(tensor.shape) == dimensions and tensor.shape[1] > 1
            return many and max(tensor.shape[2:]) > 1 and tensor.layout == "contiguous"
    return False
