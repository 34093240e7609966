"""What becomes of calls and operators in a Python source that are replaced; no torch here."""

from collections.abc import Mapping, Sequence

import libcst as cst
from msgspec import Struct

from opcheck.rewrite.source.call_sites import Parameters
from opcheck.rewrite.source.operators import Operation, as_argument, operands

OUT = "out"


class Form(Struct, frozen=True):
    """A function that may be called where a user writes one spelling."""

    code: str
    function: str
    is_layer: bool = False
    """Whether it is a class to construct where a user constructs the layer."""
    in_place: bool = False
    """Whether the first argument is written to, as by ``x.erfinv_()``."""

    def parameters(self) -> Parameters | None:
        """What it takes; None for what the layer takes."""
        return None if self.is_layer else Parameters.of(self.code, self.function)


class Change(Struct, frozen=True):
    """What becomes of one call."""

    form: Form
    is_method: bool
    parameters: Parameters | None
    to_out: bool
    """Whether its result goes to what it passes as ``out=``."""
    loses_parentheses: bool = False
    """Whether those around an operator go."""


INTO = '''\
def _into(out, result):
    """Write a result to ``out``, which takes its size."""
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)
'''
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


class Changing(cst.CSTTransformer):
    """Puts calls of other functions into a source."""

    def __init__(
        self, changes: Mapping[cst.Call | Operation, Change], names: Mapping[Form, str], into: str
    ) -> None:
        super().__init__()
        self._changes = changes
        self._names = names
        self._into = into

    def leave_Call(  # noqa: N802  # libcst names it
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.Call:
        """Change the callee; the object of a method becomes the first argument.

        What is written to is cloned before: autograd may need it as it was.
        """
        change = self._changes.get(original_node)
        if change is None:
            return updated_node
        out = next((a for a in updated_node.args if change.to_out and _is_out(a)), None)
        plain = _without(updated_node.args, out)
        args = [_renamed(argument, change.parameters) for argument in plain]
        if change.is_method:
            assert isinstance(updated_node.func, cst.Attribute), "a method"
            receiver = cst.Arg(updated_node.func.value)
            args = [receiver.with_changes(comma=_COMMA) if args else receiver, *args]
        if change.form.in_place:
            written = args[0].value
            args[0] = args[0].with_changes(value=_called(written, "clone"))
        call = updated_node.with_changes(func=cst.Name(self._names[change.form]), args=args)
        if out is not None:
            return cst.Call(cst.Name(self._into), [cst.Arg(out.value, comma=_COMMA), cst.Arg(call)])
        if change.form.in_place:
            return _called(written, "copy_", cst.Arg(call))
        return call

    def leave_BinaryOperation(  # noqa: N802  # libcst names it
        self, original_node: cst.BinaryOperation, updated_node: cst.BinaryOperation
    ) -> cst.BaseExpression:
        """Call a function instead."""
        return self._called_instead(original_node, updated_node)

    def leave_UnaryOperation(  # noqa: N802  # libcst names it
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        """Call a function instead."""
        return self._called_instead(original_node, updated_node)

    def _called_instead(
        self,
        original: cst.BinaryOperation | cst.UnaryOperation,
        updated: cst.BinaryOperation | cst.UnaryOperation,
    ) -> cst.BaseExpression:
        change = self._changes.get(original)
        if change is None:
            return updated
        call = _of_operands(self._names[change.form], *operands(updated))
        if change.loses_parentheses:
            return call
        return call.with_changes(lpar=updated.lpar, rpar=updated.rpar)

    def leave_AugAssign(  # noqa: N802  # libcst names it
        self, original_node: cst.AugAssign, updated_node: cst.AugAssign
    ) -> cst.BaseSmallStatement:
        """Copy into what is written to, which is cloned before."""
        change = self._changes.get(original_node)
        if change is None:
            return updated_node
        written, other = operands(updated_node)
        call = _of_operands(self._names[change.form], _called(written, "clone"), other)
        copied = _called(written, "copy_", cst.Arg(call))
        return cst.Expr(copied, semicolon=updated_node.semicolon)


def _of_operands(function: str, *given: cst.BaseExpression) -> cst.Call:
    *first, last = (cst.Arg(as_argument(each)) for each in given)
    return cst.Call(cst.Name(function), [*(a.with_changes(comma=_COMMA) for a in first), last])


def _called(owner: cst.BaseExpression, method: str, *args: cst.Arg) -> cst.Call:
    return cst.Call(cst.Attribute(owner, cst.Name(method)), args)


def _is_out(argument: cst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value == OUT


def _without(args: Sequence[cst.Arg], gone: cst.Arg | None) -> list[cst.Arg]:
    """The others; where the last is gone, no comma is left behind the one before."""
    left = [argument for argument in args if argument is not gone]
    if left and gone is not None and args[-1] is gone:
        left[-1] = left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return left


def _renamed(argument: cst.Arg, parameters: Parameters | None) -> cst.Arg:
    if argument.keyword is None or parameters is None:
        return argument
    name = parameters.renamed(argument.keyword.value)
    if name == argument.keyword.value:
        return argument
    return argument.with_changes(keyword=argument.keyword.with_changes(value=name))
