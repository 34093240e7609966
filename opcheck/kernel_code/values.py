"""Sizes and dtypes of what a kernel computes with, as far as its source tells them plainly.

Sizes are texts of the source, such as ``BLOCK_M`` or ``64``, which a launch gives numbers. A dtype
is ``*x`` for what the parameter ``x`` points to, a name as torch has it, ``""`` for a number of
Python's, or None. What only some runs of a kernel do is left out, and what was bound there is not
followed.
"""

import ast
import builtins
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from opcheck.kernel_code import triton_names as names_of
from opcheck.kernel_code.shapes import (
    Shape,
    Value,
    indexed,
    joined,
    reduced,
    resized,
    written_out,
)
from opcheck.kernel_code.triton_names import Function
from opcheck.model.launches import ASSEMBLY, HELPER, Called

_ALONE = frozenset({
    "exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf", "floor", "ceil",
    "abs", "sigmoid", "softmax", "cumsum", "cumprod", "sort", "flip", "multiple_of",
    "max_contiguous", "max_constancy", "zeros_like", "advance",
})  # fmt: skip
"""Functions whose result is as their first operand."""
_TOGETHER = frozenset({"maximum", "minimum", "clamp", "fma", "where", "div_rn", "fdiv"})
_REDUCED = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or"})
_RESIZED = frozenset({"reshape", "view", "broadcast_to", "expand_dims", "permute", "trans"})
_MADE = frozenset({"zeros", "full"})
_NUMBERS = frozenset({"program_id", "num_programs", "cdiv"})
_DESCRIBED = {"make_block_ptr": 4, "make_tensor_descriptor": 3}
"""Functions that describe a block, and at which place its sizes are."""
_FLOATS = frozenset({"float16", "bfloat16", "float32"})
_PAIR = 2


_UNKNOWN = Value(None)
_PLAIN = Value((), "")


def calls_of(function: Function, names: Mapping[str, str]) -> tuple[Called, ...]:
    """What every run of a function calls with plain sizes or dtypes, sorted."""
    reader = _Reader(function, names)
    try:
        reader.read(function.body)
    except RecursionError:  # deeper than Python follows
        return ()
    return tuple(sorted(reader.found))


class _Reader:
    """Reads one function, from its first statement to its last."""

    def __init__(self, function: Function, names: Mapping[str, str]) -> None:
        self._names = names
        arguments = function.args
        self._values: dict[str, Value] = {
            each.arg: _PLAIN
            if names_of.is_constant(each.annotation, names)
            else Value((), None, each.arg)
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        }
        self._texts: dict[str, str] = {}
        self._always = True
        self._loops: list[str] = []
        self.found: set[Called] = set()

    def read(self, statements: Iterable[ast.stmt]) -> None:
        """Read statements in their order."""
        for statement in statements:
            match statement:
                case ast.For() | ast.While() | ast.With():
                    self._loop(statement)
                case ast.If():
                    self._branch(statement)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind(target, value, self._value(value))
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._bind(target, value, self._value(value))
                case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
                    found = joined([self._values.get(name, _UNKNOWN), self._value(value)])
                    self._bind(target, ast.Name("None"), found)
                case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                    self._value(value)

    def _loop(self, statement: ast.For | ast.While | ast.With) -> None:
        """A loop's variable is a number; what a loop binds has one kind in every round."""
        if isinstance(statement, ast.For):
            self._bind(statement.target, ast.Name("None"), Value((), "int32"))
        if not isinstance(statement, ast.With):
            self._loops.append("for" if isinstance(statement, ast.For) else "while")
        self.read(statement.body)
        if not isinstance(statement, ast.With):
            self._loops.pop()

    def _branch(self, statement: ast.If) -> None:
        outer, self._always = self._always, False
        self.read(statement.body)
        self.read(statement.orelse)
        self._always = outer
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._values[node.id] = _UNKNOWN
                self._texts[node.id] = "None"

    def _bind(self, target: ast.expr, node: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._values[target.id] = replace(value, loops=len(self._loops))
            plain = replace(value, loops=-1) == _PLAIN and not isinstance(node, ast.Call)
            self._texts[target.id] = self._text(node) if plain else "None"
        elif isinstance(target, ast.Tuple):
            parts = node.elts if isinstance(node, ast.Tuple) else ()
            for place, each in enumerate(target.elts):
                part = parts[place] if place < len(parts) else None
                self._bind(each, part or ast.Name("None"), self._value(part) if part else _UNKNOWN)

    def _text(self, node: ast.expr) -> str:
        """An expression with the names of constants that the function computes filled in."""
        return written_out(node, self._texts)

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int() | float()):
                return _PLAIN
            case ast.Name(id=name):
                return self._values.get(name, Value((), None))
            case ast.UnaryOp(operand=operand):
                return self._value(operand)
            case ast.BinOp(left=left, right=right):
                return joined([self._value(left), self._value(right)])
            case ast.BoolOp(values=values):
                return replace(joined([*map(self._value, values)]), dtype="bool")
            case ast.Compare(left=left, comparators=others):
                return replace(joined([*map(self._value, (left, *others))]), dtype="bool")
            case ast.IfExp(body=body, orelse=orelse):
                one, other = self._value(body), self._value(orelse)
                return one if one == other else _UNKNOWN
            case ast.Subscript(value=value, slice=ast.Tuple(elts=indices)):
                found = self._value(value)
                return replace(found, shape=indexed(found.shape, indices))
            case ast.Attribute(value=value, attr="T"):
                found = self._value(value)
                return replace(found, shape=found.shape and found.shape[::-1])
            case ast.Attribute():
                return Value((), None)
            case ast.Call():
                return self._call(node)
        return _UNKNOWN

    def _call(self, node: ast.Call) -> Value:
        name = names_of.in_language(node.func, self._names).removeprefix("math.")
        args = [*node.args]
        if isinstance(node.func, ast.Attribute) and not names_of.meaning(node.func, self._names):
            name, args = node.func.attr, [node.func.value, *args]
        words = {word.arg: word.value for word in node.keywords if word.arg}
        given = [self._value(each) for each in args]
        for each in words.values():
            self._value(each)
        helper = "" if name or _is_plain(node.func, self._names) else ast.unparse(node.func)
        if helper:
            self._note(Called(HELPER, node.lineno, text=helper))
        if name in ("load", "arange", "dot", ASSEMBLY) or name in _MADE:
            return self._made(name, node, args, words, given)
        return self._changed(name, node, args, words, given)

    def _made(
        self, name: str, node: ast.Call, args: list[ast.expr], words: Mapping[str, ast.expr],
        given: list[Value],
    ) -> Value:  # fmt: skip
        """What functions give that begin something new."""
        if name == ASSEMBLY:
            code = args[0] if args else words.get("asm")
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                self._note(Called(name, node.lineno, text=code.value))
            return _UNKNOWN
        if name == "arange":
            return self._range(node, args)
        if name == "dot":
            return self._product(node, args, words, given)
        if name in _MADE:
            shape = self._sizes(args[0] if args else words.get("shape"))
            place = 1 if name == "zeros" else _PAIR
            made = words.get("dtype", args[place] if len(args) > place else None)
            return self._block(node, Value(shape, self._dtype(made)))
        first = given[0] if given else _UNKNOWN
        dtype = f"*{first.points}" if first.points else None
        return self._block(node, Value(first.shape, dtype))

    def _changed(
        self, name: str, node: ast.Call, args: list[ast.expr], words: Mapping[str, ast.expr],
        given: list[Value],
    ) -> Value:  # fmt: skip
        """What functions make of their operands."""
        if name in _DESCRIBED:
            place = _DESCRIBED[name]
            sizes = words.get("block_shape", args[place] if len(args) > place else None)
            base = given[0] if given else self._value(words.get("base", ast.Name("None")))
            return Value(self._sizes(sizes), None, base.points)
        if name in _NUMBERS:
            return Value((), "int32")
        if not given:
            return _UNKNOWN
        first = given[0]
        if name in ("to", "cast"):
            made = words.get("dtype", args[1] if len(args) > 1 else None)
            return Value(first.shape, self._dtype(made))
        if name in _TOGETHER:
            return joined(given[1:] if name == "where" else given)
        if name in _ALONE or name.startswith("extra.libdevice."):
            if first.dtype:
                self._note(Called(name, node.lineno, dtypes=(first.dtype,)))
            return first
        if name in _REDUCED:
            axis = words.get("axis", args[1] if len(args) > 1 else None)
            kept = first.dtype if name == "sum" else None
            return Value(reduced(first.shape, axis, kept="keep_dims" in words), kept)
        if name in _RESIZED:
            return replace(first, shape=resized(name, first.shape, args[1:], self._sizes))
        return _UNKNOWN

    def _range(self, node: ast.Call, args: list[ast.expr]) -> Value:
        if len(args) != _PAIR:
            return _UNKNOWN
        start, end = map(self._text, args)
        size = end if start == "0" else ast.unparse(ast.parse(f"({end}) - ({start})"))
        self._note(Called("arange", node.lineno, (size,)))
        return Value((size,), "int32")

    def _product(
        self, node: ast.Call, args: list[ast.expr], words: Mapping[str, ast.expr],
        given: list[Value],
    ) -> Value:  # fmt: skip
        if len(given) < _PAIR:
            return _UNKNOWN
        left, right = given[:_PAIR]
        if not left.shape or not right.shape or {len(left.shape), len(right.shape)} != {_PAIR}:
            return _UNKNOWN
        sizes = (left.shape[0], left.shape[1], right.shape[1])
        dtypes = (left.dtype or "", right.dtype or "")
        self._note(Called("dot", node.lineno, sizes, dtypes, self._standing(left, right)))
        plain = len(args) == _PAIR and not {"acc", "out_dtype"} & words.keys()
        known = plain and (left.dtype in _FLOATS or right.dtype in _FLOATS)
        return Value((sizes[0], sizes[2]), "float32" if known else None)

    def _standing(self, *operands: Value) -> str:
        """Where a product stands: with an operand from before its loop, in one of ``while``."""
        held = any(0 <= each.loops < len(self._loops) for each in operands)
        inside = self._loops[-1:] == ["for"] and "while" in self._loops
        return " ".join(["held"] * held + ["while"] * inside)

    def _block(self, node: ast.Call, value: Value) -> Value:
        if value.shape:
            self._note(Called("block", node.lineno, value.shape, (value.dtype or "",)))
        return value

    def _note(self, called: Called) -> None:
        if self._always:
            self.found.add(called)

    def _sizes(self, node: ast.expr | None) -> Shape | None:
        """The sizes that a list or a tuple gives."""
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(map(self._text, node.elts))
        return None

    def _dtype(self, node: ast.expr | None) -> str | None:
        """The dtype that an expression names, or that of what a parameter points to."""
        if isinstance(node, ast.Attribute) and node.attr == "element_ty":
            return self._pointed(node.value)
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return self._value(node.value).dtype
        return names_of.dtype(node, self._names) or None

    def _pointed(self, node: ast.expr) -> str | None:
        """Of ``x_ptr.dtype``, as ``x_ptr.dtype.element_ty`` has it."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            points = self._value(node.value).points
            return f"*{points}" if points else None
        return None


def _is_plain(called: ast.expr, names: Mapping[str, str]) -> bool:
    """Whether a function is Python's own, or one of Triton's that computes with constants."""
    meant = names_of.meaning(called, names)
    return meant.startswith("triton.") or ast.unparse(called) in vars(builtins)
