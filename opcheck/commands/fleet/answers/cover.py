"""In which order to meet needs, so that each unblocks as much as it can.

A model may have several needs, and is unblocked by the last of them. To take the single need that
unblocks most would stop where no need does by itself. So each step takes the *bundle* of needs
that unblocks most for each of its needs, out of all bundles that there are: the densest subgraph
of a hypergraph whose edges are the models, found exactly, by maximum flow.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush

from msgspec import Struct

from opcheck.commands.fleet.answers.flow import Network

Needs = frozenset[int]
Blocked = Mapping[Needs, int]
"""Needs that must all be met -> how many have exactly these; no needs are no key."""


class Bundle(Struct, frozen=True, order=True):
    """Needs to meet together; bundles sort by what each of their needs unblocks."""

    worth: Fraction
    """What it unblocks for each need, below zero, so that the best is first."""
    size: int
    needs: tuple[int, ...]
    """Sorted. Of bundles alike in worth and size that with the lowest numbers is first."""


def steps(blocked: Blocked) -> Iterator[Needs]:
    """Every bundle to the last, the best first; each given that those before it are met."""
    parts = [(best(part), part) for part in _apart(blocked)]
    waiting = [(bundle, place) for place, (bundle, _) in enumerate(parts)]
    heapify(waiting)
    while waiting:
        bundle, place = heappop(waiting)
        met = frozenset(bundle.needs)
        yield met
        for part in _apart(_without(parts[place][1], met)):
            parts.append((best(part), part))
            heappush(waiting, (parts[-1][0], len(parts) - 1))


def best(blocked: Blocked) -> Bundle:
    """The bundle that unblocks most for each of its needs; of those alike the smallest."""
    needs, gain = _start(blocked)
    while True:
        graph = _Graph(blocked, gain, len(needs))
        denser = graph.denser()
        if not denser:
            break
        needs = denser
        gain = sum(count for some, count in blocked.items() if some <= needs)
    worth = Fraction(-gain, len(needs))
    return min(Bundle(worth, len(some), tuple(sorted(some))) for some in graph.tight())


def _start(blocked: Blocked) -> tuple[Needs, int]:
    """A fair bundle to begin with: the needs of one key, and how many have them."""
    needs = min(blocked, key=lambda some: (Fraction(-blocked[some], len(some)), sorted(some)))
    return needs, blocked[needs]


def _without(blocked: Blocked, met: Needs) -> Blocked:
    left: dict[Needs, int] = defaultdict(int)
    for needs, count in blocked.items():
        if needs - met:
            left[needs - met] += count
    return left


def _apart(blocked: Blocked) -> Iterable[Blocked]:
    """The parts that have no need in common: what is met in one changes nothing in another."""
    leader: dict[int, int] = {}

    def lead(need: int) -> int:
        while leader.setdefault(need, need) != need:
            leader[need] = need = leader[leader[need]]
        return need

    for needs in blocked:
        first, *others = needs
        for other in others:
            leader[lead(other)] = lead(first)
    parts: dict[int, dict[Needs, int]] = defaultdict(dict)
    for needs, count in blocked.items():
        parts[lead(next(iter(needs)))][needs] = count
    return parts.values()


class _Graph:
    """Source -> keys -> needs -> sink, full where no bundle is worth more than ``gain / size``.

    A key brings ``size`` for each that has it, and a need costs ``gain``: a bundle brings more than
    it costs where it is denser.
    """

    _SOURCE, _SINK = 0, 1

    def __init__(self, blocked: Blocked, gain: int, size: int) -> None:
        self._needs = sorted(frozenset().union(*blocked))
        self._keys = sorted(blocked, key=sorted)
        node = {need: number for number, need in enumerate(self._needs, 2)}
        first = 2 + len(node)
        self._net = Network(first + len(blocked))
        self._costs = {
            need: self._net.connect(node[need], self._SINK, gain) for need in self._needs
        }
        self._sends: dict[int, list[tuple[int, Needs]]] = defaultdict(list)
        brought = 0
        for place, key in enumerate(self._keys, first):
            self._net.connect(self._SOURCE, place, blocked[key] * size)
            brought += blocked[key] * size
            for need in key:
                edge = self._net.connect(place, node[need], blocked[key] * size)
                self._sends[need].append((edge, key))
        self._full = self._net.fill(self._SOURCE, self._SINK) == brought
        self._node = node

    def denser(self) -> Needs:
        """Needs that bring more than they cost; none where all is full."""
        if self._full:
            return frozenset()
        reached = self._net.within_reach(self._SOURCE)
        return frozenset(need for need in self._needs if self._node[need] in reached)

    def tight(self) -> Iterator[Needs]:
        """Each smallest bundle that brings what it costs, of a graph that is full.

        It holds with a need all needs of every key that sends to it, and uses each up.
        """
        for need in self._needs:
            found, waiting = {need}, [need]
            while waiting:
                for edge, key in self._sends[waiting.pop()]:
                    if self._net.sent(edge):
                        waiting += key - found
                        found |= key
            if not any(self._net.left(self._costs[some]) for some in found):
                yield frozenset(found)
