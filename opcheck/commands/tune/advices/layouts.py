"""Tensors laid out as the chip computes best: memory format, casts and other copies."""

from collections.abc import Iterator, Sequence

from opcheck.commands.tune.base import WORTH, Advisor, Ground, first, places
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.roofline import Leaf, convolves
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.text import percent, plural, size
from opcheck.model.trace import Node, Phase

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
            reason = [
                Sentence(
                    "{said}, {percent} of all products, take contiguous tensors",
                    said=plural(sum(leaf.count for leaf in found), "convolution"),
                    percent=percent(counted / everything),
                ),
                Sentence(
                    "the chip is best in {format}, for {said}", format=form.name, said=form.text
                ),
            ]
            yield self.advice(
                Sentence("Use the memory format {format}", format=form.name),
                first(places(ground, found)),
                chained(reason, "; "),
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


_COPIES = frozenset(
    {"clone", "_to_copy", "copy_", "_copy_from", "_copy_from_and_resize", "_reshape_copy",
     "contiguous", "to"}
)  # fmt: skip


class Copies(Advisor):
    """Bytes that move without anything being computed."""

    name = "copies"
    about = "casts and copies into another layout that take a part of the time that is worth it"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of casts and of other copies apart; their suggestions differ."""
        copies = [
            leaf
            for leaf in ground.leaves
            if leaf.phase is not Phase.OPTIMIZER
            and leaf.base in _COPIES
            and leaf.verdict.on_device
            and not _crosses(ground.node(leaf))
        ]
        casts = [leaf for leaf in copies if casts_of(ground.node(leaf))]
        others = [leaf for leaf in copies if not casts_of(ground.node(leaf))]
        yield from self._of(
            ground, casts, "Keep one dtype", "to cast tensors",
            "give weights and inputs the dtype that the model computes in",
        )  # fmt: skip
        yield from self._of(
            ground, others, "Keep one layout", "to copy tensors as they are",
            "take the views out that make these tensors other than contiguous",
        )  # fmt: skip

    def _of(
        self, ground: Ground, leaves: Sequence[Leaf], title: str, what: str, way: str
    ) -> Iterator[Advice]:
        seconds = sum(map(ground.seconds, leaves))
        if not leaves or ground.share(seconds) < WORTH:
            return
        moved: dict[str, int] = {}
        for leaf in leaves:
            use = ground.use(leaf)
            place = f"{use.file}:{use.line}" if use.file else use.module
            moved[place] = moved.get(place, 0) + leaf.count * leaf.cost.moved
        count = sum(leaf.count for leaf in leaves)
        calls = "call" if count == 1 else "calls"
        reason = [
            Sentence(f"{{count}} {calls} {what}", count=f"{count:,}"),
            Sentence("{text} moved", text=size(sum(moved.values()))),
        ]
        yield self.advice(
            title,
            first(sorted(moved, key=lambda place: (-moved[place], place))),
            chained(reason, "; "),
            ground.gain(seconds, "at most: without any of them"),
            actions=(way,),
        )


def casts_of(node: Node) -> bool:
    """Whether a copy has another dtype than what it copies."""
    tensors = [tensor for _, tensor in node.tensors()]
    return len({tensor.dtype for tensor in (*tensors, *node.output_tensors())}) > 1


def _crosses(node: Node) -> bool:
    """Whether a copy goes to the host or comes from it."""
    tensors = [tensor for _, tensor in node.tensors()]
    return any(tensor.host for tensor in (*tensors, *node.output_tensors()))
