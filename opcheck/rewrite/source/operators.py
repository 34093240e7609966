"""Operators of Python that stand for functions of PyTorch, such as ``a @ b``; no torch here."""

from collections.abc import Iterator, Mapping

import libcst as cst

from opcheck.lang.sentence import Sentence

Operation = cst.BinaryOperation | cst.UnaryOperation | cst.AugAssign
_FUNCTIONS: Mapping[type[cst.CSTNode], str] = {
    cst.MatrixMultiply: "torch.matmul",
    cst.Power: "torch.pow",
    cst.FloorDivide: "torch.floor_divide",
    cst.Modulo: "torch.remainder",
    cst.BitAnd: "torch.bitwise_and",
    cst.BitOr: "torch.bitwise_or",
    cst.BitXor: "torch.bitwise_xor",
    cst.BitInvert: "torch.bitwise_not",
    cst.PowerAssign: "Tensor.pow_",
    cst.FloorDivideAssign: "Tensor.floor_divide_",
    cst.ModuloAssign: "Tensor.remainder_",
    cst.BitAndAssign: "Tensor.bitwise_and_",
    cst.BitOrAssign: "Tensor.bitwise_or_",
    cst.BitXorAssign: "Tensor.bitwise_xor_",
}
_TEXTS = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)
_NUMBERS = (cst.Integer, cst.Float, cst.Imaginary)


def function_of(node: Operation) -> str:
    """How what it calls of PyTorch is spelled; "" where its operands cannot be tensors."""
    given = operands(node)
    if any(isinstance(each, _TEXTS) for each in given):
        return ""
    if all(isinstance(each, _NUMBERS) for each in given):
        return ""
    return _FUNCTIONS.get(type(node.operator), "")


def operands(node: Operation) -> tuple[cst.BaseExpression, ...]:
    """What it takes, in the order in which the function takes them."""
    match node:
        case cst.BinaryOperation(left=left, right=right):
            return left, right
        case cst.AugAssign(target=target, value=value):
            return target, value
    return (node.expression,)


def obstacle(node: Operation) -> str:
    """Why it cannot become a call; "" for nothing."""
    own: list[cst.CSTNode] = [node.operator]
    if not isinstance(node, cst.AugAssign):
        own += (*node.lpar, *node.rpar)
    if any(any(comments(part)) for part in own):
        return Sentence("a comment stands beside the operator")
    return ""


def plain_parentheses(node: cst.BaseExpression) -> bool:
    """Whether nothing but the expression stands within its own parentheses."""
    own = (*(p.whitespace_after for p in node.lpar), *(p.whitespace_before for p in node.rpar))
    return all(isinstance(space, cst.SimpleWhitespace) for space in own)


def as_argument(operand: cst.BaseExpression) -> cst.BaseExpression:
    """An operand between commas, where it takes no parentheses."""
    needed = isinstance(operand, cst.Tuple | cst.GeneratorExp | cst.NamedExpr | cst.Yield)
    if needed or not plain_parentheses(operand):
        return operand
    return operand.with_changes(lpar=operand.lpar[1:], rpar=operand.rpar[1:])


def loses_parentheses(node: Operation, before: str) -> bool:
    """Whether its parentheses can go once it is a call.

    They stay where a word stands right before them, as in ``return(a @ b)``.

    Args:
        node: the operator with what it takes.
        before: its line up to the first operand.
    """
    if isinstance(node, cst.AugAssign) or not plain_parentheses(node):
        return False
    for parenthesis in reversed(node.lpar):
        space = parenthesis.whitespace_after
        before = before.removesuffix(getattr(space, "value", "")).removesuffix("(")
    return not (before[-1:].isidentifier() or before[-1:].isdigit())


def comments(node: cst.CSTNode) -> Iterator[cst.Comment]:
    """Every comment in a part of a source."""
    if isinstance(node, cst.Comment):
        yield node
    for child in node.children:
        yield from comments(child)
