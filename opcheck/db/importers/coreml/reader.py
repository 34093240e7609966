"""What coremltools' converters do with a call, read from their source and never run.

Every way through a converter is followed: where its code asks something that the reader does not
know, both answers are tried. A call is refused where each way ends in an error.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opcheck.db.importers.coreml.domains import Definition
from opcheck.db.importers.coreml.values import (
    KINDS,
    ORDER,
    OWN,
    UNKNOWN,
    Constant,
    Dtype,
    Function,
    Given,
    Items,
    Var,
    bind,
    compared,
    dtype_of,
    item,
    module,
    truth,
)

_WAYS = 300
"""So many ways through a converter are followed; one with more tells nothing."""
_DEPTH = 6


class RefusedError(Exception):
    """The converter raises."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


class _ReturnedError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _UnclearError(Exception):
    """What happens is not for the reader to say."""


class Reader:
    """Reads the functions of ``ops.py``."""

    def __init__(self, text: str, mil: Mapping[str, Definition]) -> None:
        """``mil``: the operators of MIL that the converters build with."""
        self.functions = {
            node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
        }
        self._mil = mil
        self._answers: list[bool] = []
        self._asked = 0
        self._line = 0

    def refusal(self, name: str, given: Sequence[Any], fewest: int = 0) -> RefusedError | None:
        """The error that each way through a converter ends in; None where one does not.

        ``fewest``: of what is given, so much at least is not left out.
        """
        first: RefusedError | None = None
        for ended in self._ways(self.functions[name], Given(list(given), fewest)):
            if ended is None:
                return None
            first = first or ended
        return first

    def _ways(self, node: ast.FunctionDef, given: Given) -> Iterator[RefusedError | None]:
        self._answers = []
        for _ in range(_WAYS):
            self._asked = 0
            around = {"context": UNKNOWN, "node": UNKNOWN, "": given}
            try:
                self._block(node.body, dict(around), 0)
                yield None
            except _ReturnedError:
                yield None
            except RefusedError as error:
                yield error
            except _UnclearError:
                yield None
            while self._answers and self._answers[-1]:
                self._answers.pop()
            if not self._answers:
                return
            self._answers[-1] = True
        yield None

    def _decided(self, value: Any) -> bool:
        """Whether a condition holds: both ways in turn where that is not known."""
        known = truth(value)
        if known is not None:
            return known
        if self._asked == len(self._answers):
            self._answers.append(False)
        self._asked += 1
        return self._answers[self._asked - 1]

    def _block(self, body: Sequence[ast.stmt], names: dict[str, Any], depth: int) -> None:
        for node in body:
            self._line = node.lineno
            self._statement(node, names, depth)

    def _statement(self, node: ast.stmt, names: dict[str, Any], depth: int) -> None:
        match node:
            case ast.Assign(targets, value):
                found = self._value(value, names, depth)
                for target in targets:
                    bind(target, found, names)
            case ast.AnnAssign(target, _, value) if value is not None:
                bind(target, self._value(value, names, depth), names)
            case ast.AugAssign(target):
                bind(target, UNKNOWN, names)
            case ast.Expr(value):
                self._value(value, names, depth)
            case ast.Return(value):
                raise _ReturnedError(self._value(value, names, depth) if value else Constant(None))
            case ast.Raise():
                raise RefusedError(node.lineno, "")
            case ast.If(test, body, orelse):
                held = self._decided(self._value(test, names, depth))
                self._block(body if held else orelse, names, depth)
            case ast.Assert(test):
                if truth(self._value(test, names, depth)) is False:
                    raise RefusedError(node.lineno, "")
            case ast.For(target, each, body):
                self._loop(target, self._value(each, names, depth), body, names, depth)
            case ast.With(_, body):
                self._block(body, names, depth)
            case ast.FunctionDef():
                names[node.name] = Function(node, names)
            case ast.While() | ast.Try():
                raise _UnclearError
            case _:
                pass

    def _loop(
        self, target: ast.expr, over: Any, body: list[ast.stmt], names: dict[str, Any], depth: int
    ) -> None:
        if isinstance(over, Items):
            for item in over.items:
                bind(target, item, names)
                self._block(body, names, depth)
            return
        for each in body:
            for part in ast.walk(each):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    names[part.id] = UNKNOWN

    def _value(self, node: ast.expr, names: dict[str, Any], depth: int) -> Any:
        match node:
            case ast.Constant(value):
                return Constant(value)
            case ast.Name(name):
                return names.get(name, module(name, self.functions))
            case ast.Tuple(items) | ast.List(items):
                if any(isinstance(item, ast.Starred) for item in items):
                    return UNKNOWN
                return Items([self._value(item, names, depth) for item in items])
            case ast.Attribute(ast.Name("types"), name):
                return Dtype(name)
            case ast.Attribute(value, "dtype"):
                found = self._value(value, names, depth)
                return Dtype(found.dtype) if isinstance(found, Var) else UNKNOWN
            case ast.Subscript(value, index):
                place = self._value(index, names, depth)
                return item(self._value(value, names, depth), place)
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
                return Constant(-value)
            case ast.ListComp(element, [each]) | ast.GeneratorExp(element, [each]):
                return self._comprehension(element, each, names, depth)
            case ast.UnaryOp(ast.Not(), value):
                known = truth(self._value(value, names, depth))
                return UNKNOWN if known is None else Constant(not known)
            case ast.BoolOp(op, values):
                return self._either(isinstance(op, ast.Or), values, names, depth)
            case ast.Compare(left, [op], [right]):
                sides = (self._value(left, names, depth), self._value(right, names, depth))
                return compared(op, *sides)
            case ast.IfExp(test, body, orelse):
                held = self._decided(self._value(test, names, depth))
                return self._value(body if held else orelse, names, depth)
            case ast.Call():
                return self._called(node, names, depth)
        return UNKNOWN

    def _either(
        self, stops: bool, values: list[ast.expr], names: dict[str, Any], depth: int
    ) -> Any:
        """``or`` where ``stops`` is true, else ``and``."""
        found: Any = Constant(not stops)
        for value in values:
            known = truth(self._value(value, names, depth))
            if known is stops:
                return Constant(stops)
            found = UNKNOWN if known is None else found
        return found

    def _comprehension(
        self, element: ast.expr, each: ast.comprehension, names: dict[str, Any], depth: int
    ) -> Any:
        over = self._value(each.iter, names, depth)
        if each.ifs or not isinstance(over, Items | Given):
            return UNKNOWN
        found, inner = [], dict(names)
        for one in over.items:
            bind(each.target, one, inner)
            found.append(self._value(element, inner, depth))
        return type(over)(found)

    def _called(self, node: ast.Call, names: dict[str, Any], depth: int) -> Any:
        args = [self._value(each, names, depth) for each in node.args]
        if any(isinstance(each, ast.Starred) for each in node.args):
            args = [UNKNOWN]
        passed = {k.arg: self._value(k.value, names, depth) for k in node.keywords if k.arg}
        match node.func:
            case ast.Attribute(ast.Name("mb"), op):
                return self._built(op, args, passed, node.lineno)
            case ast.Attribute(ast.Name("types"), name) if name in KINDS and args:
                known = args[0]
                return Constant(known.name in KINDS[name]) if isinstance(known, Dtype) else UNKNOWN
            case ast.Name(name) if name in OWN:
                return OWN[name](args, passed, names)
            case ast.Name(name):
                called = names.get(name, module(name, self.functions))
                if isinstance(called, Function) and depth < _DEPTH:
                    return self._inside(called, args, passed, names, depth)
        return UNKNOWN

    def _inside(
        self,
        called: Function,
        args: list[Any],
        passed: Mapping[str, Any],
        names: Mapping[str, Any],
        depth: int,
    ) -> Any:
        own = dict(called.around)
        own[""] = names[""]
        taken = called.node.args
        parameters = [*taken.posonlyargs, *taken.args]
        defaults = dict(zip(reversed(parameters), reversed(taken.defaults), strict=False))
        for place, parameter in enumerate(parameters):
            if place < len(args):
                own[parameter.arg] = args[place]
            elif parameter.arg in passed:
                own[parameter.arg] = passed[parameter.arg]
            elif parameter in defaults:
                own[parameter.arg] = self._value(defaults[parameter], own, depth)
            else:
                own[parameter.arg] = UNKNOWN
        line = self._line
        try:
            self._block(called.node.body, own, depth + 1)
        except _ReturnedError as ended:
            return ended.value
        finally:
            self._line = line
        return Constant(None)

    def _built(self, op: str, args: list[Any], passed: Mapping[str, Any], line: int) -> Any:
        """An operator of MIL: refused where it does not take a dtype."""
        known = self._mil.get(op)
        if known is None or args:
            return UNKNOWN
        seen: dict[str, str] = {}
        for name, value in passed.items():
            dtype, taken = dtype_of(value), known.taken(name)
            if not dtype:
                continue
            if isinstance(value, Var) and taken is not None and dtype not in taken:
                raise RefusedError(line, op)
            group = known.inputs.get(name)
            if isinstance(group, str) and seen.setdefault(group, dtype) != dtype:
                raise RefusedError(line, op)
        if op == "cast":
            to = passed.get("dtype")
            named = isinstance(to, Constant) and to.value in ORDER
            return Var(to.value) if named and isinstance(to, Constant) else UNKNOWN
        if known.gives == "bool":
            return Var("bool")
        return passed.get(known.gives, UNKNOWN)
