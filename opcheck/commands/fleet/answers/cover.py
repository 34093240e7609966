"""In which order to meet needs, so that each unblocks as much as it can."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush

from msgspec import Struct


class Network:
    """Nodes from 0, edges with capacities; what flows is kept as what is left of them."""

    def __init__(self, nodes: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(nodes)]
        self._ends: list[int] = []
        self._left: list[int] = []

    def connect(self, start: int, end: int, capacity: int) -> int:
        """Add an edge, and give its number."""
        number = len(self._ends)
        self._edges[start].append(number)
        self._edges[end].append(number + 1)  # the way back, for what is sent along
        self._ends += [end, start]
        self._left += [capacity, 0]
        return number

    def left(self, edge: int) -> int:
        """How much more an edge could take."""
        return self._left[edge]

    def sent(self, edge: int) -> int:
        """How much flows along an edge."""
        return self._left[edge + 1]

    def fill(self, source: int, sink: int) -> int:
        """Send as much as there is room for, and say how much that was."""
        total = 0
        while (levels := self._levels(source))[sink] >= 0:
            untried = [len(edges) for edges in self._edges]
            while path := self._path(source, sink, levels, untried):
                room = min(self._left[edge] for edge in path)
                for edge in path:
                    self._left[edge] -= room
                    self._left[edge ^ 1] += room
                total += room
        return total

    def within_reach(self, source: int) -> frozenset[int]:
        """Every node that something more could be sent to."""
        return frozenset(node for node, level in enumerate(self._levels(source)) if level >= 0)

    def _levels(self, source: int) -> list[int]:
        """How many edges away each node is; -1 where there is no way."""
        levels = [-1] * len(self._edges)
        levels[source] = 0
        waiting = deque([source])
        while waiting:
            node = waiting.popleft()
            for edge in self._edges[node]:
                end = self._ends[edge]
                if self._left[edge] and levels[end] < 0:
                    levels[end] = levels[node] + 1
                    waiting.append(end)
        return levels

    def _path(self, source: int, sink: int, levels: list[int], untried: list[int]) -> list[int]:
        """Edges of a shortest way with room; ``untried`` counts those that may still be one."""
        path: list[int] = []
        node = source
        while node != sink:
            edge = self._onward(node, levels, untried)
            if edge is not None:
                path.append(edge)
                node = self._ends[edge]
            elif path:
                node = self._ends[path.pop() ^ 1]
                untried[node] -= 1
            else:
                return []
        return path

    def _onward(self, node: int, levels: list[int], untried: list[int]) -> int | None:
        edges = self._edges[node]
        while untried[node]:
            edge = edges[untried[node] - 1]
            if self._left[edge] and levels[self._ends[edge]] == levels[node] + 1:
                return edge
            untried[node] -= 1
        return None


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
