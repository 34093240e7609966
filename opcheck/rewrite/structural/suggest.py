"""Structural ways beside a plan: told to the user, whose lines they are."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Declined, NodePlan, Suggestion, Tier
from opcheck.model.trace import Node, Trace
from opcheck.rewrite.structural import fixed_size, masks
from opcheck.rewrite.structural.advice import READS, advised
from opcheck.rewrite.structural.lines import Site
from opcheck.rewrite.structural.proof import Prover

Text = Callable[[str], str]
"""Gives the text of a file by the name that a trace has for it; "" where it is not to be had."""


class Structural:
    """Adds structural ways to the plans for one trace, target after target."""

    def __init__(self, trace: Trace, prover: Prover, text: Text) -> None:
        self._trace = trace
        self._prover = prover
        self._text = text

    def added(self, plans: Sequence[NodePlan], matrix: SupportMatrix) -> tuple[NodePlan, ...]:
        """The same plans, with structural ways where there is no cheaper one.

        What depends on the user's line makes a plan of its own for each line.
        """
        return tuple(each for plan in plans for each in self._added(plan, matrix))

    def _added(self, plan: NodePlan, matrix: SupportMatrix) -> Iterator[NodePlan]:
        node = self._trace.nodes[plan.node]
        written = any(way.code for way in plan.suggestions) or not masks.selects(node)
        if not plan.stuck and written:
            yield plan
        elif masks.selects(node) or str(node.op) in READS:
            for site in self._sites(plan.node):
                yield replace(self._at(plan, site, matrix), site=str(site))
        else:
            yield self._of_fixed_size(plan, matrix)

    def _at(self, plan: NodePlan, site: Site, matrix: SupportMatrix) -> NodePlan:
        """The plan for one line."""
        node = self._trace.nodes[plan.node]
        if str(node.op) in READS:
            return _with(plan, advised(str(node.op), site), plan.stuck)
        uses = [use for use in self._trace.uses if (use.file, use.line) == (site.file, site.line)]
        nodes = [self._trace.nodes[index] for index in dict.fromkeys(use.node for use in uses)]
        way = masks.over_everything(node, site, nodes, matrix, self._prover)
        if isinstance(way, Suggestion):
            return _with(plan, way, ())
        declined = Declined(masks.RULE, Tier.STRUCTURAL, way)
        return self._of_fixed_size(replace(plan, declined=(*plan.declined, declined)), matrix)

    def _of_fixed_size(self, plan: NodePlan, matrix: SupportMatrix) -> NodePlan:
        """The plan with a size that is chosen, of the call or of what is to blame inside it."""
        for inner in (self._trace.nodes[plan.node], *self._inside(plan)):
            match fixed_size.of_fixed_size(inner, matrix, self._prover):
                case Suggestion() as way:
                    whole = inner is self._trace.nodes[plan.node]
                    left = () if whole else tuple(op for op in plan.stuck if op != way.replaces)
                    plan = _with(plan, way, left)
                case str(why) if why:
                    declined = Declined(fixed_size.RULE, Tier.STRUCTURAL, why)
                    plan = replace(plan, declined=(*plan.declined, declined))
            if not plan.stuck:
                break
        return plan

    def _sites(self, index: int) -> list[Site]:
        """The lines that make a call."""
        places = [(use.file, use.line) for use in self._trace.uses if use.node == index]
        return [Site(file, line, self._text(file)) for file, line in dict.fromkeys(places)]

    def _inside(self, plan: NodePlan) -> Iterator[Node]:
        """The calls inside the planned one of overloads without a way out."""
        reached = [plan.node]
        for index in reached:
            node = self._trace.nodes[index]
            if index != plan.node and str(node.op) in plan.stuck:
                yield node
            reached += (child for child, _ in node.children or () if child not in reached)


def _with(plan: NodePlan, way: Suggestion, stuck: tuple[str, ...]) -> NodePlan:
    """A plan with one more way, and what it leaves without one."""
    ways = sorted((*plan.suggestions, way), key=lambda each: each.tier)
    return replace(plan, suggestions=tuple(ways), stuck=stuck)
