"""Expressions that compute each element by itself, and what brings their elements together."""

import ast
from collections.abc import Collection

from msgspec import Struct

from opcheck.rewrite.structural.lines import dotted

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
