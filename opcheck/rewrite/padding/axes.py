"""Sizes that vary together, the buckets that they are padded to, and the sizes that are tried."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.padding import BucketSizes
from opcheck.trace.sizes.runs import Axis, Sizes

_HALVINGS = 4
"""How many buckets there are where none are given: the size of the example, its half, ..."""


class Group(Struct, frozen=True):
    """Dimensions of several inputs that always have one size, and its buckets."""

    axes: tuple[Axis, ...]
    buckets: tuple[int, ...]

    @property
    def name(self) -> str:
        """That of the first dimension."""
        return self.axes[0].name

    @property
    def size(self) -> int:
        """In the example."""
        return self.axes[0].size

    def bucket(self, size: int) -> int:
        """What a size is padded to."""
        return next(bucket for bucket in self.buckets if bucket >= size)

    def tried(self) -> Iterator[int]:
        """Sizes that are padded: the smallest of each bucket, one between, and the largest."""
        before = 0
        for bucket in self.buckets:
            inside = sorted({before + 1, (before + bucket) // 2, bucket - 1})
            yield from (size for size in inside if before < size < bucket)
            before = bucket


def grouped(axes: Sequence[Axis], given: Sequence[BucketSizes]) -> tuple[Group, ...]:
    """Dimensions of different inputs that stand in the same place and have one size, together.

    Raises:
        UsageError: buckets are given for a dimension that does not vary.
    """
    together: dict[tuple[int, int], list[Axis]] = {}
    for axis in axes:
        together.setdefault((axis.dim, axis.size), []).append(axis)
    names = [axis.name for axis in axes]
    for one in given:
        if one.axis and one.axis not in names:
            raise UsageError(
                Sentence("--buckets: {name} is not marked by --dynamic", name=one.axis),
                Sentence("marked are: {list}", list=", ".join(names)),
            )
    return tuple(Group(tuple(group), _buckets(group, given)) for group in together.values())


def _buckets(group: Sequence[Axis], given: Sequence[BucketSizes]) -> tuple[int, ...]:
    own = [one.sizes for one in given if one.axis in {axis.name for axis in group}]
    all_ = [one.sizes for one in given if not one.axis]
    if own or all_:
        return (own or all_)[-1]
    size = group[0].size
    return tuple(sorted({-(-size // 2**power) for power in range(_HALVINGS) if size}))


def choices(groups: Sequence[Group]) -> list[dict[Group, int]]:
    """Sizes of all groups at once: all of them small or large together, and each alone."""
    tried = {group: list(group.tried()) for group in groups}
    longest = max(map(len, tried.values()), default=0)
    found = [
        {
            group: sizes[place % len(sizes)] if sizes else group.buckets[-1]
            for group, sizes in tried.items()
        }
        for place in range(longest)
    ]
    for group, sizes in tried.items() if len(groups) > 1 else ():
        others = {other: other.buckets[-1] for other in groups}
        found += [{**others, group: size} for size in sizes]
    unique: dict[tuple[int, ...], dict[Group, int]] = {}
    for one in found:
        unique.setdefault(tuple(one.values()), one)
    return list(unique.values())


def sizes_of(chosen: Mapping[Group, int]) -> Sizes:
    """The size of each dimension."""
    return {axis: size for group, size in chosen.items() for axis in group.axes}


def told(chosen: Mapping[Group, int], of: Callable[[Group, int], int] = lambda _, n: n) -> str:
    """As people read it: ``x:2 = 5, x:3 = 9``."""
    return ", ".join(f"{group.name} = {of(group, size)}" for group, size in chosen.items())


Inputs = tuple[tuple[Any, ...], dict[str, Any]]
