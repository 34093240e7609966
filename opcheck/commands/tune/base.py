"""What an advice is, what it is given to judge, and the order of what they all say."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import ClassVar

from msgspec import Struct

import opcheck.commands.tune.advices
from opcheck.commands.tune.values import Advice, Gain
from opcheck.costs.calls import TargetCalls
from opcheck.costs.roofline import Bound, Leaf, MemoryNeed, Roof
from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim
from opcheck.model.costs import Chip, Figure, Product
from opcheck.model.plan import Remedy
from opcheck.model.report import TargetReport
from opcheck.model.request import TrainingSpec
from opcheck.model.trace import Node, Use
from opcheck.model.verdict import Evidence
from opcheck.registry import discover

WORTH = 0.01
"""Part of the time that bounds a run, below which an advice is not worth a line."""
PLACES = 3
"""How many places an advice names."""


class Ground(Struct, frozen=True):
    """One model on one target, and what is known of the chip."""

    running: TargetCalls
    leaves: tuple[Leaf, ...]
    chip: Chip
    product: Product | None
    roof: Roof
    bound: Bound
    memory: MemoryNeed
    report: TargetReport
    """The same model compared with the same target."""
    source: str
    """The model, as the user wrote it."""
    remedies: tuple[Remedy, ...] = ()
    """What the vendor ships beside its kernels."""
    step: TrainingSpec | None = None
    """The training step; None: a forward."""

    def node(self, leaf: Leaf) -> Node:
        """The call that a leaf makes."""
        return self.running.trace.nodes[leaf.node]

    def use(self, leaf: Leaf) -> Use:
        """The model's own call that a leaf is part of."""
        return self.running.trace.uses[leaf.use]

    def seconds(self, leaf: Leaf) -> float:
        """The least time for all calls of a leaf; 0 where it is not known."""
        return self.roof.bound(leaf).seconds or 0.0

    def share(self, seconds: float) -> float:
        """Time as a part of what bounds the run; 0 where that is not known."""
        return seconds / self.bound.seconds if self.bound.seconds else 0.0

    def gain(self, seconds: float, text: str, nbytes: int | None = None) -> Gain:
        """So many seconds less, as the bounds tell; not known where nothing bounds the run."""
        if not self.bound.seconds:
            return Gain(nbytes=nbytes, text=NO_BOUND)
        return Gain(self.share(seconds), seconds, nbytes, text)

    def less(self, leaves: Iterable[Leaf], text: str, roof: Roof | None = None) -> Gain:
        """What it brings if the run were of these ``leaves``, on a chip with this ``roof``."""
        after = (roof or self.roof).total(leaves).seconds
        if not self.bound.seconds or after is None:
            return Gain(text=NO_BOUND)
        return self.gain(max(self.bound.seconds - after, 0.0), text)

    def is_little(self, gain: Gain) -> bool:
        """Whether a gain is known and not worth a line."""
        return gain.share is not None and gain.share < WORTH

    def evidence(self, *figures: str) -> tuple[Evidence, ...]:
        """What the product's figures rest on: ``bandwidth``, ``memory`` or a dtype's rate."""
        found: list[Evidence] = []
        for name in figures:
            figure = figure_of(self.product, name)
            found += figure.evidence[:1] if figure is not None else ()
        return tuple(dict.fromkeys(found))


NO_BOUND = "not known: figures of the chip are missing"


def figure_of(product: Product | None, name: str) -> Figure | None:
    """A figure of a product's by name; None where it is not known."""
    if product is None:
        return None
    match name:
        case "memory":
            return product.memory
        case "bandwidth":
            return product.bandwidth
        case _:
            return product.peak(name)


class Advisor(ABC):
    """One kind of advice; a file in ``advices`` is all that a new one needs."""

    name: ClassVar[str]
    """The code of its advice: ``half-precision``."""
    about: ClassVar[str]
    """When it speaks, for the documentation."""

    @abstractmethod
    def advise(self, ground: Ground) -> Iterator[Advice]:
        """What the ground gives reason for; nothing where it gives none."""

    def advice(
        self,
        title: str,
        where: Sequence[str],
        reason: str,
        gain: Gain,
        *,
        actions: Sequence[str] = (),
        lines: Sequence[str] = (),
        evidence: Iterable[Evidence] = (),
        needed: bool = False,
    ) -> Advice:
        """An advice of this kind."""
        return Advice(
            self.name, title, tuple(where), reason, gain, tuple(actions), tuple(lines),
            tuple(dict.fromkeys(evidence)), needed,
        )  # fmt: skip


@cache
def advisors() -> tuple[Advisor, ...]:
    """Every kind of advice, by name."""
    kinds = discover(opcheck.commands.tune.advices, Advisor)  # type: ignore[type-abstract]
    return tuple(kind() for kind in kinds)


def advice(ground: Ground) -> tuple[Advice, ...]:
    """All that there is to advise: what is needed, what saves time, what saves memory, the rest."""
    found = [each for advisor in advisors() for each in advisor.advise(ground)]
    return tuple(sorted(found, key=_order))


def _order(one: Advice) -> tuple[bool, bool, float, bool, int, str, str]:
    share, nbytes = one.gain.share, one.gain.nbytes
    most_first = share is None, -(share or 0.0), nbytes is None, -(nbytes or 0)
    return not one.needed, *most_first, one.code, one.title


def places(ground: Ground, leaves: Iterable[Leaf]) -> tuple[str, ...]:
    """Where leaves are, those first on which most of the time, or else most bytes, are spent."""
    weights: dict[str, tuple[float, int, int]] = {}
    for leaf in leaves:
        use = ground.use(leaf)
        name = use.module or (f"{use.file}:{use.line}" if use.file else THE_MODEL)
        seconds, moved, count = weights.get(name, (0.0, 0, 0))
        seconds += ground.seconds(leaf)
        weights[name] = seconds, moved + leaf.count * leaf.cost.moved, count + leaf.count
    return tuple(sorted(weights, key=lambda name: (*(-each for each in weights[name]), name)))


THE_MODEL = in_brackets("the model")


def first(names: Sequence[str], most: int = PLACES) -> tuple[str, ...]:
    """The first few, and how many more there are."""
    left = len(names) - most
    return tuple(names) if left <= 0 else (*names[:most], _and_more(left))


def modules(names: Iterable[str]) -> tuple[str, ...]:
    """The first few modules by name; what no module makes, the model itself does."""
    return first([name or THE_MODEL for name in sorted(set(names))])


def first_of(names: Sequence[str], most: int = PLACES) -> Sentence:
    """The same in a sentence, with commas between them."""
    left = len(names) - most
    some = ", ".join(names[:most])
    return verbatim(some) if left <= 0 else chained([verbatim(some), _and_more(left)], ", ")


def _and_more(count: int) -> Sentence:
    return Sentence("and {count} more", count=count)
