"""The most that can flow through a network, by Dinic's method, in whole numbers."""

from collections import deque


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
