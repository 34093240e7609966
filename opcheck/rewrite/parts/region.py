"""All complex calls of a model as one region, which is computed on parts or stays as it is."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from opcheck.model.plan import Declined, NodePlan, Suggestion, Tier
from opcheck.model.trace import Node
from opcheck.resolve.walk import Walk
from opcheck.rewrite.candidates import Candidate
from opcheck.rewrite.parts.calls import NAME, complex_calls, in_parts

_Way = Callable[[Candidate, Node], Suggestion | str]
"""Records, holds and measures a candidate for a call; a sentence where it is no way out."""
_Ways = Callable[[Node], tuple[tuple[Suggestion, ...], tuple[Declined, ...]]]
"""Ways for one call that is not complex."""


class Region:
    """The complex calls of a trace on one target."""

    def __init__(
        self, nodes: Sequence[Node], used: Sequence[int], walk: Walk, way: _Way, ways: _Ways
    ) -> None:
        self._nodes = nodes
        self._walk = walk
        self._ways = ways
        self._inside = {index: tuple(complex_calls(nodes, index)) for index in used}
        self._found: dict[int, Suggestion] = {}
        self._way = way

    def planned(self, plans: Sequence[NodePlan]) -> tuple[NodePlan, ...]:
        """The same plans; where a complex call has no way out, ones that compute on parts.

        Then no other way is left to any complex call: what it gave would be no parts.
        """
        stuck = [plan.node for plan in plans if plan.stuck and self._is_bad(plan.node)]
        if not any(self._inside[index] for index in stuck):
            return tuple(plans)
        reason = self._reason()
        return tuple(
            plan if not self._inside[plan.node]
            else self._on_parts(plan) if not reason
            else _declined(plan, reason)
            for plan in plans
        )  # fmt: skip

    def _reason(self) -> str:
        """Why not every complex call can be computed on parts; "" where it can."""
        for index in dict.fromkeys(i for inside in self._inside.values() for i in inside):
            node = self._nodes[index]
            candidate = in_parts(str(node.op))
            if candidate is None:
                return f"{node.op} has no form on real and imaginary parts"
            way = self._way(candidate, node)
            if isinstance(way, str):
                return f"{node.op} on parts is no way out: {way}"
            self._found[index] = way
        return ""

    def _on_parts(self, plan: NodePlan) -> NodePlan:
        suggestions: list[Suggestion] = []
        declined: list[Declined] = []
        stuck: list[str] = []
        for index in dict.fromkeys(self._blamed(plan.node)):
            if index in self._found:
                suggestions.append(replace(self._found[index], declined=plan.declined))
                continue
            ways, others = self._ways(self._nodes[index])
            suggestions += ways
            declined += others
            if not ways:
                stuck.append(str(self._nodes[index].op))
        return NodePlan(
            plan.node, tuple(suggestions), tuple(dict.fromkeys(declined)),
            tuple(dict.fromkeys(stuck)),
        )  # fmt: skip

    def _blamed(self, index: int) -> Iterator[int]:
        """Calls to be changed in one that is, down to those on parts and the innermost others."""
        inner = [child for child, _ in self._nodes[index].children or () if self._is_bad(child)]
        if index in self._found or not inner:
            yield index
            return
        for child in inner:
            yield from self._blamed(child)

    def _is_bad(self, index: int) -> bool:
        return not self._walk.fate(index).verdict.on_device


def _declined(plan: NodePlan, reason: str) -> NodePlan:
    if not plan.stuck:
        return plan
    return replace(plan, declined=(*plan.declined, Declined(NAME, Tier.STRUCTURAL, reason)))
