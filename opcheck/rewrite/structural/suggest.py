"""Structural fixes beside a plan, and advice where Python asks a tensor for a number."""

import ast
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Declined, Label, NodePlan, Suggestion, Tier
from opcheck.model.trace import Node, Trace
from opcheck.rewrite.structural import fixed_size, mask_to_where
from opcheck.rewrite.structural.line_proof import Prover
from opcheck.rewrite.structural.lines import Site, Spot, spot

READS = frozenset(
    ("aten::item", "aten::_local_scalar_dense", "aten::is_nonzero", "aten::equal", "aten::allclose")
)
"""Overloads whose result goes to Python."""
_NUMBER = (
    "Leave it a tensor of no dimension and go on with tensors; where it is a size, choose an upper "
    "bound, or one of a few, pad to it and mask what is beyond"
)
_NUMBER_COSTS = "What is padded is computed as well, and every size in use is compiled once"

PAGES = (
    (
        "branch-by-where",
        "Compute both values, and choose between them by torch.where",
        "For a branch that does no more than bind names.",
        "Both branches are computed",
    ),
    (
        "branch-by-cond",
        "Put the branches into functions, and call torch.cond",
        "For a branch that does more than bind names.",
        "Both branches give tensors of the same sizes and dtypes",
    ),
    (
        "loop-of-fixed-length",
        "Make a fixed number of turns, and keep what was there once the loop would have ended",
        "For a loop whose end depends on values.",
        "Every turn is made, and their number is chosen",
    ),
    (
        "check-outside",
        "Check values before the model is called",
        "For an assertion about values.",
        "The check",
    ),
    (
        "number-stays-a-tensor",
        "Keep a tensor of no dimension, and give sizes an upper bound",
        "For .item(), int() and float(), and for sizes: pad to one bound, or to a few (buckets).",
        _NUMBER_COSTS,
    ),
)
"""Name, summary, what it is for and what it costs, of everything that is advised."""


def advised(op: str, site: Site) -> Suggestion:
    """What is advised for a line that calls one of ``READS``."""
    found = spot(site.text, site.line)
    rule, summary, costs = "number-stays-a-tensor", _NUMBER, _NUMBER_COSTS
    if found is not None:
        rule, summary, costs = _of(found)
    return Suggestion(
        rule=rule,
        tier=Tier.STRUCTURAL,
        label=Label.APPROXIMATE,
        replaces=op,
        summary=summary,
        gives_up=costs,
        unmeasured="it is advice: nothing was recorded or computed, and it counts for nothing",
        by_hand=True,
    )


def _of(found: Spot) -> tuple[str, str, str]:
    """Rule, what to write, and what it costs."""
    match found.statement:
        case ast.Assert(test=test):
            text = Sentence(
                "Check {text} before the model is called, or leave it out: torch._assert_async "
                "where it must stay",
                text=ast.unparse(test),
            )
            return "check-outside", text, "The check"
        case ast.If(test=test, body=body, orelse=orelse):
            return _branch(_tensor(test), body, orelse)
        case ast.While(test=test):
            text = Sentence(
                "Make a fixed number of turns, as many as are ever needed, and keep by "
                "torch.where what was there once {text} does not hold",
                text=ast.unparse(_tensor(test)),
            )
            return "loop-of-fixed-length", text, "Every turn is made, and their number is chosen"
    for node in ast.walk(found.statement):
        if isinstance(node, ast.IfExp):
            chosen = _chosen(_tensor(node.test), node.body, node.orelse)
            text = Sentence("Write {text}", text=chosen)
            return "branch-by-where", text, "Both values are computed"
    return "number-stays-a-tensor", _NUMBER, _NUMBER_COSTS


def _tensor(test: ast.expr) -> ast.expr:
    """What a condition asks for a number: ``x`` of ``bool(x)`` and of ``x.item()``."""
    match test:
        case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]):
            return _tensor(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return inner
    return test


def _branch(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> tuple[str, str, str]:
    """A branch by ``where`` if all that it does is to bind names; else by ``torch.cond``."""
    yes, no = _bound(body), _bound(orelse)
    if yes is None or no is None or any(name not in yes for name in no):
        text = Sentence(
            "Put both branches into functions of the tensors that they take, and write "
            "torch.cond({text}, if_true, if_false, operands)",
            text=ast.unparse(test),
        )
        return "branch-by-cond", text, "Both branches give tensors of the same sizes and dtypes"
    lines = [
        f"{name} = {_chosen(test, value, no.get(name, ast.Name(name, ast.Load())))}"
        for name, value in yes.items()
    ]
    text = Sentence("Write {text}", text="; ".join(lines))
    return "branch-by-where", text, "Both branches are computed"


def _bound(body: list[ast.stmt]) -> dict[str, ast.expr] | None:
    """Name -> value, of statements that do no more than bind names that they do not read again."""
    found: dict[str, ast.expr] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AugAssign(target=ast.Name(id=name), op=operation, value=other):
                value = ast.BinOp(ast.Name(name, ast.Load()), operation, other)
            case ast.Pass():
                continue
            case _:
                return None
        if name in found or set(_names(value)) & set(found):
            return None
        found[name] = value
    return found


def _names(node: ast.AST) -> Iterator[str]:
    yield from (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _chosen(test: ast.expr, yes: ast.expr, no: ast.expr) -> str:
    return f"torch.where({ast.unparse(test)}, {ast.unparse(yes)}, {ast.unparse(no)})"


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
        written = any(way.code for way in plan.suggestions) or not mask_to_where.selects(node)
        if not plan.stuck and written:
            yield plan
        elif mask_to_where.selects(node) or str(node.op) in READS:
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
        way = mask_to_where.over_everything(node, site, nodes, matrix, self._prover)
        if isinstance(way, Suggestion):
            return _with(plan, way, ())
        declined = Declined(mask_to_where.RULE, Tier.STRUCTURAL, way)
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
        """The calls inside the planned one of overloads without a suggestion."""
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
