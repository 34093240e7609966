"""The statement that a call comes from, and its expressions, as Python reads them."""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct


class Site(Struct, frozen=True):
    """A line of the user's."""

    file: str
    """As a trace has it."""
    line: int
    text: str
    """Of the whole file; "" where it is not to be had."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Spot(Struct, frozen=True):
    """One statement of the user's."""

    statement: ast.stmt
    around: ast.AST
    """The function that holds it, or the module."""


class Select(Struct, frozen=True):
    """``base[mask]``, or the same as a call of ``masked_select``."""

    node: ast.expr
    base: ast.expr
    mask: ast.expr


def spot(text: str, line: int) -> Spot | None:
    """The innermost statement of a file that a line belongs to; None where there is none."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    holding = [node for node in ast.walk(module) if _holds(node, line)]
    statements = [node for node in holding if isinstance(node, ast.stmt)]
    if not statements:
        return None
    functions = [n for n in holding if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Spot(min(statements, key=_length), min(functions, key=_length, default=module))


def selects(root: ast.AST) -> tuple[Select, ...]:
    """What is selected in an expression or a statement, in the order in which it is written."""
    found = [select for node in ast.walk(root) if (select := _select(node)) is not None]
    return tuple(sorted(found, key=lambda select: (select.node.lineno, select.node.col_offset)))


def same(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions read the same."""
    return ast.unparse(one) == ast.unparse(other)


def swapped(node: Any, by: Mapping[int, ast.AST]) -> Any:
    """The same tree with some nodes, by their ``id``, exchanged for others."""
    if id(node) in by:
        return by[id(node)]
    if isinstance(node, list):
        return [swapped(item, by) for item in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node)(**{name: swapped(value, by) for name, value in ast.iter_fields(node)})
    return ast.copy_location(made, node) if hasattr(node, "lineno") else made


def parents(root: ast.AST) -> Mapping[int, ast.AST]:
    """``id`` of a node -> the node that it is a part of."""
    return {id(child): node for node in ast.walk(root) for child in ast.iter_child_nodes(node)}


def dotted(node: ast.AST) -> str:
    """``torch.nn.functional.relu`` of what reads so; "" for all that is no name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            inner = dotted(value)
            return f"{inner}.{name}" if inner else ""
    return ""


def _select(node: ast.AST) -> Select | None:
    match node:
        case ast.Subscript(value=base, slice=mask, ctx=ast.Load()) if _may_be_mask(mask):
            return Select(node, base, mask)
        case ast.Call(func=ast.Attribute(value=owner, attr="masked_select"), keywords=[]):
            given = node.args if dotted(owner) == "torch" else [owner, *node.args]
            return Select(node, given[0], given[1]) if len(given) == 2 else None
    return None


def _may_be_mask(index: ast.expr) -> bool:
    """Whether it is no slice, no number and no list of indices."""
    kinds = ast.Name | ast.Attribute | ast.Compare | ast.Call | ast.BinOp | ast.Subscript
    return isinstance(index, kinds) or isinstance(getattr(index, "op", None), ast.Invert)


def _holds(node: ast.AST, line: int) -> bool:
    last = getattr(node, "end_lineno", None)
    return last is not None and node.lineno <= line <= last  # type: ignore[attr-defined]  # has both


def _length(node: Any) -> int:
    return int(node.end_lineno - node.lineno)


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    """Every name in a tree."""
    yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


def loads(name: str, around: ast.AST) -> Iterator[ast.Name]:
    """Every place that reads a name."""
    for node in names_in(around):
        if node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def stores(name: str, around: ast.AST) -> int:
    """How many places bind a name."""
    return sum(n.id == name and not isinstance(n.ctx, ast.Load) for n in names_in(around))


def changes(name: str, around: ast.AST, line: int) -> bool:
    """Whether anything below a line binds a name again, or writes into what it holds."""
    for node in ast.walk(around):
        if getattr(node, "lineno", 0) <= line:
            continue
        match node:
            case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) if bound == name:
                return True
            case ast.Subscript(value=base, ctx=ast.Store() | ast.Del()):
                if any(inner.id == name for inner in names_in(base)):
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)):
                if owner == name and method.endswith("_") and not method.endswith("__"):
                    return True
    return False


_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr)
_NAMES = frozenset(
    (
        "abs", "bfloat16", "bool", "ceil", "clamp", "clip", "cos", "detach", "double", "elu", "erf",
        "exp", "expm1", "float", "floor", "gelu", "half", "int", "isfinite", "isinf", "isnan",
        "leaky_relu", "log", "log1p", "logical_not", "long", "nan_to_num", "neg", "pow",
        "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "silu", "sin", "softplus",
        "sqrt", "square", "tanh",
    )
)  # fmt: skip
"""Methods and functions that compute one element from one; all else that they take is numbers."""
REDUCTIONS = frozenset(("sum", "mean", "max", "min", "amax", "amin", "any", "all"))
LOSSES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
LIBRARIES = frozenset(("torch", "F", "torch.nn.functional", "nn.functional"))
"""What functions are taken from in recognised calls."""


class Reduction(Struct, frozen=True):
    """Elements that come together: to one, or over the first dimension."""

    node: ast.expr
    kind: str
    """``sum``, ``amax``, …; of a loss ``sum`` or ``mean``."""
    parts: tuple[ast.expr, ...]
    """What is reduced; two for a loss."""
    rows: bool = False
    """Over the first dimension alone."""
    loss: bool = False
    """Whether the call first makes a loss of each element of the two parts."""


def topmost(node: ast.expr, above: dict[int, ast.AST]) -> ast.expr:
    """The largest expression around a node that computes each element by itself."""
    while True:
        parent = above.get(id(node))
        if isinstance(parent, ast.Attribute):
            parent = above.get(id(parent))
        if not (isinstance(parent, ast.expr) and _is_pointwise(parent)):
            return node
        node = parent


def not_by_element(expression: ast.expr, known: Collection[int]) -> str:
    """The part of an expression that does not go element by element; "" without one.

    Args:
        expression: what is to be computed elsewhere as well.
        known: ids of the nodes that are known to hold elements.
    """
    if id(expression) in known or _is_number(expression):
        return ""
    if not _is_pointwise(expression):
        return ast.unparse(expression)
    return next(filter(None, (not_by_element(part, known) for part in _parts(expression))), "")


def reduction(node: ast.expr, above: dict[int, ast.AST]) -> Reduction | None:
    """What brings the elements of an expression together; None where it is something else."""
    parent = above.get(id(node))
    match parent:
        case ast.Attribute(attr=kind):
            call = above.get(id(parent))
            if isinstance(call, ast.Call) and call.func is parent and kind in REDUCTIONS:
                return _reduced(call, kind, node, call.args)
        case ast.Call(func=function, args=[first, *rest]) if first is node or node in rest:
            library, _, kind = dotted(function).rpartition(".")
            if library in LIBRARIES and kind in REDUCTIONS and first is node:
                return _reduced(parent, kind, node, rest)
            if library in LIBRARIES and kind in LOSSES and len(rest) == 1:
                named = {keyword.arg: keyword.value for keyword in parent.keywords}
                how = named.pop("reduction", ast.Constant("mean"))
                plain = all(isinstance(value, ast.Constant) for value in named.values())
                if plain and isinstance(how, ast.Constant) and how.value in ("mean", "sum"):
                    return Reduction(parent, str(how.value), (first, rest[0]), loss=True)
    return None


def _reduced(call: ast.Call, kind: str, node: ast.expr, given: list[ast.expr]) -> Reduction | None:
    dims = [*given, *(keyword.value for keyword in call.keywords if keyword.arg == "dim")]
    if len(dims) != len(given) + len(call.keywords) or len(dims) > 1:
        return None
    if not dims:
        return Reduction(call, kind, (node,))
    first = isinstance(dims[0], ast.Constant) and dims[0].value == 0
    rows = first and kind in ("sum", "mean", "amax", "amin")
    return Reduction(call, kind, (node,), rows=True) if rows else None


def _is_pointwise(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(op=operation):
            return isinstance(operation, _OPERATIONS)
        case ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return True
        case ast.Compare(ops=[_]):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _NAMES
    return False


def _parts(node: ast.expr) -> list[ast.expr]:
    """What a pointwise expression is made of."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=value), args=args, keywords=keywords):
            own = [] if dotted(value) in LIBRARIES else [value]
            return [*own, *args, *(keyword.value for keyword in keywords)]
    return []


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | None)
