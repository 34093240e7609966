"""Where a program has the calls of a function: by their structure first, then call by call.

A function is traced on small tensors, and its calls are looked for whatever their numbers are;
casts are seen through. That tells what stands for its arguments. Traced again on these, it must
then be the program's own calls, every number included.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import torch
from msgspec import Struct
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves

from opcheck.rewrite.fusing.base import Fusion, Variant
from opcheck.rewrite.fusing.nodes import arguments, between, guards_of, source, through_casts

# ``FakeTensor`` and ``make_fx`` are private; checked on 2.13.0, where the tests of splicing, which
# uses them alike, fail when they move.

_MARK = 0.0123456789
"""The first of the numbers that stand for those the model has chosen."""
_COMMUTE = frozenset({"aten::mul", "aten::add", "aten::__and__", "aten::bitwise_and"})
_MOST = 3
"""More arguments than that are not tried in all combinations of what they may be casts of."""


class Match(Struct, frozen=True):
    """Calls that are one of the ways to write what a fusion stands for."""

    variant: Variant
    output: Node
    nodes: tuple[Node, ...]
    """All calls that are fused, the output among them."""
    tensors: Mapping[str, Node]
    numbers: Mapping[str, Any]
    casts_alike: bool = True
    """Whether casts are where the variant has them."""


def matches(fusion: Fusion, graph: Graph) -> Iterator[Match]:
    """Every place where a graph has the calls of a fusion, none of them twice.

    Those come last that would be one of the ways, were it not for where they cast.
    """
    taken: set[Node] = set()
    near: list[Match] = []
    loose = [(way, *_traced_small(fusion, way)) for way in fusion.ways()]
    for node in reversed(graph.nodes):
        if node.op != "call_function" or node in taken or source(node) is not node:
            continue
        for way, pattern, marks in loose:
            found = _at(way, pattern, marks, node)
            if found is None or not taken.isdisjoint(found.nodes):
                continue
            if found.casts_alike:
                taken.update(found.nodes)
                yield found
                break
            near.append(found)
    for found in near:
        if taken.isdisjoint(found.nodes):
            taken.update(found.nodes)
            yield found


def _at(way: Variant, pattern: Graph, marks: Mapping[float, str], node: Node) -> Match | None:
    """The calls that end in a node, if they are those of a variant, whatever they cast."""
    loose = _Loose(marks)
    if not loose.fits(_result(pattern), node):
        return None
    inputs = [item for item in pattern.nodes if item.op == "placeholder"]
    options = [loose.options(item) for item in inputs]
    if not all(options) or set(loose.numbers) != set(way.numbers):
        return None
    if len(options) > _MOST:
        options = [list(dict.fromkeys((one[0], one[-1]))) for one in options]
    near: Match | None = None
    for chosen in product(*options):
        tensors = dict(zip(way.tensors, chosen, strict=True))
        found = _compared(way, tensors, loose.numbers, node)
        if found is not None and found.casts_alike:
            return found
        near = near or found
    return near


@cache
def _traced_small(fusion: Fusion, way: Variant) -> tuple[Graph, Mapping[float, str]]:
    """A variant on small tensors, and the marks that stand for its numbers."""
    marks = {name: _MARK * (place + 1) for place, name in enumerate(way.numbers)}
    example = fusion.example()
    tensors = [example[name] for name in way.tensors]
    with FakeTensorMode() as mode:
        fakes = [mode.from_tensor(tensor) for tensor in tensors]
        graph = _traced(way, fakes, marks)
    return graph, {mark: name for name, mark in marks.items()}


def _traced(way: Variant, tensors: list[Any], numbers: Mapping[str, Any]) -> Graph:
    """The calls of a variant, composites whole."""

    def called(*args: Any) -> Any:
        return way.function(*args, **numbers)

    with torch.no_grad():
        made = make_fx(called, tracing_mode="real", pre_dispatch=True)(*tensors)
    made.graph.eliminate_dead_code()
    return made.graph


def _result(graph: Graph) -> Any:
    return next(item for item in graph.nodes if item.op == "output").args[0]


class _Loose:
    """Compares structures; numbers are bound to what the program has."""

    def __init__(self, marks: Mapping[float, str]) -> None:
        self._marks = marks
        self._bound: dict[Node, list[Any]] = {}
        self.numbers: dict[str, Any] = {}

    def options(self, argument: Node) -> list[Any]:
        """What may stand for an argument, before its casts first."""
        chains = self._bound.get(argument, [])
        found = dict.fromkeys(node for chain in chains for node in reversed(chain))
        return [node for node in found if isinstance(node, Node)]

    def fits(self, pattern: Any, node: Any) -> bool:
        """Whether a node is the call of the pattern's, as are the nodes that it takes."""
        if not isinstance(pattern, Node):
            return self._number(pattern, node)
        *_, pattern = through_casts(pattern)
        chain = list(through_casts(node))
        if pattern.op == "placeholder":
            return self._binds(pattern, chain)
        node = chain[-1]
        if not isinstance(node, Node) or node.target is not pattern.target:
            return False
        wanted, given = tree_leaves(_inputs(pattern)), tree_leaves(_inputs(node))
        return any(self._all(wanted, order) for order in _orders(node, given))

    def _all(self, wanted: list[Any], given: list[Any]) -> bool:
        before = {key: list(value) for key, value in self._bound.items()}, dict(self.numbers)
        if len(wanted) == len(given) and all(map(self.fits, wanted, given)):
            return True
        self._bound, self.numbers = before
        return False

    def _number(self, pattern: Any, node: Any) -> bool:
        if isinstance(node, Node):
            return False
        name = self._marks.get(pattern) if isinstance(pattern, float) else None
        if name is None:
            return True  # compared once the sizes are known
        known = isinstance(node, int | float) and not isinstance(node, bool)
        return known and self.numbers.setdefault(name, node) == node

    def _binds(self, argument: Node, chain: list[Any]) -> bool:
        chains = self._bound.setdefault(argument, [])
        if chains and chains[0][-1] is not chain[-1]:
            return False
        chains.append(chain)
        return True


def _inputs(node: Node) -> list[Any]:
    """The arguments of a call that may differ from those of another of its kind."""
    return [item for item in tree_leaves((node.args, dict(node.kwargs))) if _matters(item)]


def _matters(item: Any) -> bool:
    return isinstance(item, Node) or (isinstance(item, float | int) and not isinstance(item, bool))


def _orders(node: Node, given: list[Any]) -> Iterator[list[Any]]:
    """The arguments of a call, and the other way round where that is the same."""
    yield given
    name = str(getattr(getattr(node.target, "_schema", None), "name", ""))
    if name in _COMMUTE and len(given) == 2:
        yield given[::-1]


def _compared(
    way: Variant, tensors: Mapping[str, Node], numbers: Mapping[str, Any], node: Node
) -> Match | None:
    """The program's calls, if the variant on just these arguments is what ends in a node."""
    values: list[Any] = [tensor.meta.get("val") for tensor in tensors.values()]
    if not all(isinstance(one, FakeTensor) for one in values):
        return None
    mode = values[0].fake_mode
    guards = guards_of(values[0])
    before = len(guards)
    try:
        with mode:
            pattern = _traced(way, values, numbers)
    except Exception:  # the variant is none of such tensors
        return None
    finally:
        del guards[before:]  # what was settled for a look is not for the program
    inputs = [item for item in pattern.nodes if item.op == "placeholder"]
    bound = dict(zip(inputs, tensors.values(), strict=True))
    for casts_alike in (True, False):
        exact = _Exact(bound, source if casts_alike else _below_casts)
        if exact.same(_result(pattern), node):
            return Match(way, node, tuple(exact.used), tensors, dict(numbers), casts_alike)
    return None


def _below_casts(node: Any) -> Any:
    *_, last = through_casts(node)
    return last


class _Exact:
    """Compares call by call, with every number; what changes nothing is seen through."""

    def __init__(self, bound: Mapping[Node, Node], behind: Callable[[Any], Any]) -> None:
        """``behind``: what a node is taken for."""
        self._behind = behind
        self._known: dict[Node, Any] = {key: behind(node) for key, node in bound.items()}
        self._inputs = frozenset(bound)
        self.used: dict[Node, None] = {}
        """The program's calls that are compared."""

    def same(self, pattern: Any, node: Any) -> bool:
        """Whether both give the same."""
        if isinstance(pattern, list | tuple) and isinstance(node, list | tuple):
            return len(pattern) == len(node) and all(map(self.same, pattern, node))
        if not isinstance(pattern, Node) or not isinstance(node, Node):
            return type(pattern) is type(node) and bool(pattern == node)
        pattern, end = self._behind(pattern), self._behind(node)
        if pattern in self._known:
            return self._meets(pattern, node, end)
        if end.op != "call_function" or end.target is not pattern.target:
            return False
        wanted, given = arguments(pattern), arguments(end)
        before = dict(self._known), dict(self.used)
        for order in _both(end, given):
            if all(self.same(wanted[name], order[name]) for name in wanted):
                self._known[pattern] = end
                self.used.update(dict.fromkeys((*between(node, end), end)))
                return True
            self._known, self.used = dict(before[0]), dict(before[1])
        return False

    def _meets(self, pattern: Node, node: Node, end: Node) -> bool:
        """What stands for an argument, or for a call that was compared before."""
        if self._known[pattern] is not end:
            return False
        if pattern not in self._inputs:
            self.used.update(dict.fromkeys(between(node, end)))
        return True


def _both(node: Node, given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield given
    name = str(getattr(getattr(node.target, "_schema", None), "name", ""))
    if name in _COMMUTE and "other" in given and given.get("alpha", 1) == 1:
        yield {**given, "self": given["other"], "other": given["self"]}
