"""A predicate on two tensors one of which is spread over the other in one dimension."""

from collections.abc import Iterator, Sequence
from itertools import dropwhile
from math import prod

from opcheck.model.predicates import Predicate
from opcheck.model.trace import Node, TensorMeta, Value, tensors_in

Sizes = tuple[int, ...]


class LostDimensions(Predicate, frozen=True):
    """How many dimensions fewer than the result has the tensor that the other is spread over.

    Kernels that spread in one dimension give the result the sizes of that tensor. 0 where neither
    is spread in one dimension alone, sizes of 1 in front left aside.
    """

    kind = "lost-dimensions"

    beside: str = "other"
    """The other tensor argument."""

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """The number as text."""
        return str(value) if type(value) is int else None

    def _values(self, node: Node) -> Iterator[tuple[str, Value]]:
        given = dict(node.arguments)
        one, other = (
            next(iter(tensors_in(given.get(name))), None) for name in (self.argument, self.beside)
        )
        if isinstance(one, TensorMeta) and isinstance(other, TensorMeta):
            yield self.argument, lost(_sizes(one), _sizes(other))


class Squeezed(Predicate, frozen=True):
    """What a tensor and itself without its dimensions of one come to where they meet.

    ``refused`` where their sizes do not spread over each other, as those of (32, 50, 1) and
    (32, 50) do not; else ``larger`` or ``the same``, as the result is beside the tensor.
    """

    kind = "squeezed"

    def measure(self, value: Value, dim: int = 0) -> str | None:
        """What they come to."""
        return beside_squeezed(_sizes(value)) if isinstance(value, TensorMeta) else None


def beside_squeezed(sizes: Sizes) -> str:
    """What sizes, and those of them that are not 1, come to by the rules of broadcasting."""
    kept = tuple(size for size in sizes if size != 1)
    filled = (1,) * (len(sizes) - len(kept)) + kept
    pairs = tuple(zip(sizes, filled, strict=True))
    if any(one != other and 1 not in (one, other) for one, other in pairs):
        return "refused"
    return "the same" if all(other in (one, 1) for one, other in pairs) else "larger"


def lost(one: Sizes, other: Sizes) -> int:
    """Dimensions of the result that the tensor lacks which the other is spread over."""
    over = _spread_over(one, other)
    return max(len(one), len(other)) - len(over) if over is not None else 0


def _spread_over(one: Sizes, other: Sizes) -> Sizes | None:
    """The sizes of the tensor that the other is spread over; None where it is not so simple."""
    first, second = _without_front(one), _without_front(other)
    if first == second or 1 in (prod(one), prod(other)):
        return None
    for whole, short, sizes in ((first, second, one), (second, first, other)):
        if (len(whole), len(short)) == (2, 1) and whole[1] == short[0]:
            return sizes
    place = _one_place(first, second)
    if place is None:
        return None
    last = place == len(first) - 1
    if last:
        return other if first.count(1) == 1 else one
    return one if second.count(1) == 1 else other


def _one_place(first: Sizes, second: Sizes) -> int | None:
    """Where alone they differ, one of them being 1 there."""
    if len(first) != len(second):
        return None
    pairs = list(zip(first, second, strict=True))
    ones = [place for place, pair in enumerate(pairs) if place and 1 in pair]
    same = all(a == b for place, (a, b) in enumerate(pairs) if place not in ones)
    return ones[0] if same and len(ones) == 1 else None


def _without_front(sizes: Sequence[int]) -> Sizes:
    return tuple(dropwhile(lambda size: size == 1, sizes))


def _sizes(tensor: TensorMeta) -> Sizes:
    return tuple(int(size) for size in tensor.shape)
