"""Copies on the device: casts, and tensors laid out anew."""

from collections.abc import Iterator, Sequence

from opcheck.commands.tune.base import WORTH, Advisor, Ground, first
from opcheck.commands.tune.values import Advice
from opcheck.costs.roofline import Leaf
from opcheck.model.text import plural, size
from opcheck.model.trace import Node, Phase

_COPIES = frozenset(
    {"clone", "_to_copy", "copy_", "_copy_from", "_copy_from_and_resize", "_reshape_copy",
     "contiguous", "to"}
)  # fmt: skip


class Copies(Advisor):
    """Bytes that move without anything being computed."""

    name = "copies"
    about = "casts and copies into another layout that take a part of the time that is worth it"

    def advise(self, ground: Ground) -> Iterator[Advice]:
        """Speak of casts and of other copies apart; their ways out differ."""
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
        yield self.advice(
            title,
            first(sorted(moved, key=lambda place: (-moved[place], place))),
            f"{plural(sum(leaf.count for leaf in leaves), 'call')} {what}; "
            f"{size(sum(moved.values()))} moved",
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
