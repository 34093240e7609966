"""What coremltools' converters do with a call, read from their source and never run.

Every way through a converter is followed: where its code asks something that the reader does not
know, both answers are tried. A call is refused where each way ends in an error.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from opcheck.db.importers.coreml.domains import Definition

_WAYS = 300
"""So many ways through a converter are followed; one with more tells nothing."""
_DEPTH = 6
_KINDS = {
    "is_int": frozenset({"int32"}), "is_float": frozenset({"fp16", "fp32"}),
    "is_bool": frozenset({"bool"}), "is_complex": frozenset[str](),
}  # fmt: skip
_NUMBERS: Mapping[type, str] = {bool: "bool", int: "int32", float: "fp32"}
_ORDER = ("bool", "int32", "fp16", "fp32")
"""What dtypes are promoted to: the later of two."""


class Var(Struct, frozen=True):
    """A tensor of MIL, of a known dtype."""

    dtype: str


class Dtype(Struct, frozen=True):
    """A dtype of MIL."""

    name: str


class Constant(Struct, frozen=True):
    """A value of Python."""

    value: Any


class Items(Struct):
    """A list or a tuple of known length."""

    items: list[Any]


class Given(Struct):
    """What a call is given, of which it may leave out the last ones."""

    items: list[Any]


class Function(Struct):
    """A function of the source, with the names around it."""

    node: ast.FunctionDef
    around: dict[str, Any]


class Unknown(Struct, frozen=True):
    """Anything else."""


UNKNOWN = Unknown()


class Refused(Exception):
    """The converter raises."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Unclear(Exception):
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

    def refusal(self, name: str, given: Sequence[Any]) -> Refused | None:
        """The error that each way through a converter ends in; None where one does not."""
        first: Refused | None = None
        for ended in self._ways(self.functions[name], given):
            if ended is None:
                return None
            first = first or ended
        return first

    def _ways(self, node: ast.FunctionDef, given: Sequence[Any]) -> Iterator[Refused | None]:
        self._answers = []
        for _ in range(_WAYS):
            self._asked = 0
            around = {"context": UNKNOWN, "node": UNKNOWN, "": Given(list(given))}
            try:
                self._block(node.body, dict(around), 0)
                yield None
            except _Returned:
                yield None
            except Refused as error:
                yield error
            except _Unclear:
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
                    _bind(target, found, names)
            case ast.AnnAssign(target, _, value) if value is not None:
                _bind(target, self._value(value, names, depth), names)
            case ast.AugAssign(target):
                _bind(target, UNKNOWN, names)
            case ast.Expr(value):
                self._value(value, names, depth)
            case ast.Return(value):
                raise _Returned(self._value(value, names, depth) if value else Constant(None))
            case ast.Raise():
                raise Refused(node.lineno, "")
            case ast.If(test, body, orelse):
                held = self._decided(self._value(test, names, depth))
                self._block(body if held else orelse, names, depth)
            case ast.Assert(test):
                if truth(self._value(test, names, depth)) is False:
                    raise Refused(node.lineno, "")
            case ast.For(target, each, body):
                self._loop(target, self._value(each, names, depth), body, names, depth)
            case ast.With(_, body):
                self._block(body, names, depth)
            case ast.FunctionDef():
                names[node.name] = Function(node, names)
            case ast.While() | ast.Try():
                raise _Unclear
            case _:
                pass

    def _loop(
        self, target: ast.expr, over: Any, body: list[ast.stmt], names: dict[str, Any], depth: int
    ) -> None:
        if isinstance(over, Items):
            for item in over.items:
                _bind(target, item, names)
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
                return names.get(name, _module(name, self.functions))
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
                return _item(self._value(value, names, depth), place)
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
                return _compared(op, *sides)
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
        for item in over.items:
            _bind(each.target, item, inner)
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
            case ast.Attribute(ast.Name("types"), name) if name in _KINDS and args:
                known = args[0]
                return (
                    Constant(known.name in _KINDS[name]) if isinstance(known, Dtype) else UNKNOWN
                )
            case ast.Name(name) if name in _OWN:
                return _OWN[name](args, passed, names)
            case ast.Name(name):
                called = names.get(name, _module(name, self.functions))
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
        except _Returned as ended:
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
                raise Refused(line, op)
            group = known.inputs.get(name)
            if isinstance(group, str) and seen.setdefault(group, dtype) != dtype:
                raise Refused(line, op)
        if op == "cast":
            to = passed.get("dtype")
            named = isinstance(to, Constant) and to.value in _ORDER
            return Var(to.value) if named and isinstance(to, Constant) else UNKNOWN
        if known.gives == "bool":
            return Var("bool")
        return passed.get(known.gives, UNKNOWN)


def dtype_of(value: Any) -> str:
    """The dtype of a tensor, or of the constant that a number of Python becomes; "" of others."""
    if isinstance(value, Var):
        return value.dtype
    number = value.value if isinstance(value, Constant) else None
    return _NUMBERS.get(type(number), "")


def truth(value: Any) -> bool | None:
    """Whether a value holds; None where that is not known."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Items):
        return bool(value.items)
    return None


def _module(name: str, functions: Mapping[str, ast.FunctionDef]) -> Any:
    return Function(functions[name], {}) if name in functions else UNKNOWN


def _bind(target: ast.expr, value: Any, names: dict[str, Any]) -> None:
    match target:
        case ast.Name(name):
            names[name] = value
        case ast.Tuple(targets) | ast.List(targets):
            known = isinstance(value, Items | Given) and not any(
                isinstance(each, ast.Starred) for each in targets
            )
            for place, each in enumerate(targets):
                inner = each.value if isinstance(each, ast.Starred) else each
                _bind(inner, _item(value, Constant(place)) if known else UNKNOWN, names)
        case ast.Subscript(ast.Name(name), ast.Constant(place)):
            held = names.get(name)
            if isinstance(held, Items | Given) and isinstance(place, int):
                if place < len(held.items):
                    items = [*held.items]
                    items[place] = value
                    names[name] = type(held)(items)


def _item(value: Any, place: Any) -> Any:
    if isinstance(value, Items | Given) and isinstance(place, Constant):
        index = place.value
        if isinstance(index, int) and -len(value.items) <= index < len(value.items):
            if isinstance(value, Items) or index >= 0:
                return value.items[index]
    return UNKNOWN


def _compared(op: ast.cmpop, left: Any, right: Any) -> Any:
    match op:
        case ast.Is() | ast.IsNot():
            if isinstance(right, Constant) and right.value is None and not _open(left):
                none = isinstance(left, Constant) and left.value is None
                return Constant(none is isinstance(op, ast.Is))
        case ast.Eq() | ast.NotEq():
            both = isinstance(left, Dtype) and isinstance(right, Dtype)
            if both or (isinstance(left, Constant) and isinstance(right, Constant)):
                return Constant((left == right) is isinstance(op, ast.Eq))
        case ast.In() | ast.NotIn():
            if isinstance(left, Dtype) and isinstance(right, Items):
                return Constant((left in right.items) is isinstance(op, ast.In))
    return UNKNOWN


def _open(value: Any) -> bool:
    return isinstance(value, Unknown | Given)


def _get_inputs(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    return names[""]


def _get_kwinputs(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """What is given by name, else the default: known where that is a tensor."""
    default = passed.get("default")
    if isinstance(default, Items) and all(isinstance(each, Var) for each in default.items):
        return default
    return UNKNOWN


def _promote(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    if not args or not isinstance(args[0], Items):
        return UNKNOWN
    items = args[0].items
    dtypes = [each.dtype for each in items if isinstance(each, Var)]
    if len(dtypes) < len(items) or not all(each in _ORDER for each in dtypes):
        return Items([UNKNOWN for _ in items])
    highest = max(dtypes, key=_ORDER.index)
    return Items([Var(highest) for _ in items])


def _cast_to(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    to = args[1] if len(args) > 1 else UNKNOWN
    return Var(to.value) if isinstance(to, Constant) and to.value in _ORDER else UNKNOWN


def _all(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Known to be false by one item; true only of a list of known length."""
    if not args or not isinstance(args[0], Items | Given):
        return UNKNOWN
    held = [truth(item) for item in args[0].items]
    if False in held:
        return Constant(value=False)
    return Constant(value=True) if isinstance(args[0], Items) and all(held) else UNKNOWN


def _any(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """Known to be true by one item; false only of a list of known length."""
    if not args or not isinstance(args[0], Items | Given):
        return UNKNOWN
    held = [truth(item) for item in args[0].items]
    if True in held:
        return Constant(value=True)
    none = isinstance(args[0], Items) and not any(each is None for each in held)
    return Constant(value=False) if none else UNKNOWN


def _isinstance(args: list[Any], passed: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    return UNKNOWN


_OWN: Mapping[str, Callable[[list[Any], Mapping[str, Any], Mapping[str, Any]], Any]] = {
    "_get_inputs": _get_inputs,
    "_get_kwinputs": _get_kwinputs,
    "promote_input_dtypes": _promote,
    "_cast_to": _cast_to,
    "isinstance": _isinstance,
    "all": _all,
    "any": _any,
}
"""Functions whose work is told here, not read."""
