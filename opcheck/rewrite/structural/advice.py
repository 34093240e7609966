"""What to do where Python asks a tensor for a number: told, and not carried out."""

import ast
from collections.abc import Iterator

from opcheck.model.plan import Label, Suggestion, Tier
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
            text = f"Check {ast.unparse(test)} before the model is called, or leave it out"
            return "check-outside", f"{text}: torch._assert_async where it must stay", "The check"
        case ast.If(test=test, body=body, orelse=orelse):
            return _branch(_tensor(test), body, orelse)
        case ast.While(test=test):
            text = (
                f"Make a fixed number of turns, as many as are ever needed, and keep by "
                f"torch.where what was there once {ast.unparse(_tensor(test))} does not hold"
            )
            return "loop-of-fixed-length", text, "Every turn is made, and their number is chosen"
    for node in ast.walk(found.statement):
        if isinstance(node, ast.IfExp):
            text = f"Write {_chosen(_tensor(node.test), node.body, node.orelse)}"
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
        text = (
            "Put both branches into functions of the tensors that they take, and write "
            f"torch.cond({ast.unparse(test)}, if_true, if_false, operands)"
        )
        return "branch-by-cond", text, "Both branches give tensors of the same sizes and dtypes"
    lines = [
        f"{name} = {_chosen(test, value, no.get(name, ast.Name(name, ast.Load())))}"
        for name, value in yes.items()
    ]
    return "branch-by-where", f"Write {'; '.join(lines)}", "Both branches are computed"


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
