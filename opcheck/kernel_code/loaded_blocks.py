"""Blocks that a kernel loads in a loop for products, which Triton keeps in shared memory.

Sizes are followed from ``tl.arange`` through indices and sums, as the texts that the source has for
them: ``BLOCK_M``, ``64``. What is not followed is left out, so that a sum of blocks is the least.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from opcheck.kernel_code import triton_names as names_of
from opcheck.kernel_code.shapes import Shape, broadcast, indexed
from opcheck.kernel_code.triton_names import Function
from opcheck.model.launches import Block

_SAME = frozenset({"trans", "reshape"})
"""Functions whose result is the block that they are given."""


class _Loaded(Struct, frozen=True):
    """A block that a name or an expression stands for."""

    block: Block
    loop: int
    """The loop that loads it; 0 for none."""


def loaded_blocks(function: Function, names: Mapping[str, str]) -> tuple[Block, ...]:
    """The blocks that are loaded inside of the loop that multiplies them, each once, sorted."""
    return tuple(sorted(_Reader(function, names).found))


class _Reader:
    """Reads one function, from its first statement to its last."""

    def __init__(self, function: Function, names: Mapping[str, str]) -> None:
        self._names = names
        arguments = function.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self._parameters = {
            each.arg for each in every if not names_of.is_constant(each.annotation, names)
        }
        self._shapes: dict[str, Shape | None] = {}
        self._pointers: dict[str, frozenset[str]] = {
            name: frozenset({name}) for name in self._parameters
        }
        self._loaded: dict[str, _Loaded] = {}
        self._loop = self._loops = 0
        self.found: set[Block] = set()
        self._read(function.body)

    def _read(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.For) and self._overlaps(statement.iter):
                outer, self._loops = self._loop, self._loops + 1
                self._loop = self._loops
                self._read(statement.body)
                self._loop = outer
            elif isinstance(statement, ast.For | ast.While | ast.If | ast.With):
                self._read(statement.body)
                self._read(getattr(statement, "orelse", ()))
            else:
                self._plain(statement)

    def _overlaps(self, over: ast.expr) -> bool:
        """Whether a loop has as many stages as the launch says: not one that is unrolled."""
        if not isinstance(over, ast.Call) or any(word.arg for word in over.keywords):
            return False
        plain = isinstance(over.func, ast.Name) and over.func.id == "range"
        return plain or self._called(over) == "range"

    def _plain(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and self._called(node) == "dot":
                self._multiplied(node.args[:2])
        for target, value in _assigned(statement):
            self._shapes[target] = self._shape(value)
            self._pointers[target] = self._points_to(value)
            loaded = self._load(value)
            if loaded is None:
                self._loaded.pop(target, None)
            else:
                self._loaded[target] = loaded

    def _called(self, node: ast.Call) -> str:
        return names_of.in_language(node.func, self._names)

    def _multiplied(self, operands: Iterable[ast.expr]) -> None:
        for operand in operands:
            loaded = self._load(operand)
            if loaded is not None and self._loop and loaded.loop == self._loop:
                self.found.add(loaded.block)

    def _load(self, node: ast.expr) -> _Loaded | None:
        """The block that an expression is, as it was loaded."""
        match node:
            case ast.Name(id=name):
                return self._loaded.get(name)
            case ast.Attribute(value=value, attr="T"):
                return self._load(value)
            case ast.Call(args=[first, *_]) if self._called(node) in _SAME:
                return self._load(first)
            case ast.Call(args=[first, *_]) if self._called(node) == "load":
                shape, pointers = self._shape(first), self._points_to(first)
                if shape is not None and len(shape) > 1 and len(pointers) == 1:
                    block = Block(min(pointers), node.lineno, shape, self._loop)
                    return _Loaded(block, self._loop)
        return None

    def _points_to(self, node: ast.expr) -> frozenset[str]:
        """The parameters that are the first of a sum's terms, which is where a pointer stands."""
        while isinstance(node, ast.BinOp):
            node = node.left
        return (
            self._pointers.get(node.id, frozenset()) if isinstance(node, ast.Name) else frozenset()
        )

    def _shape(self, node: ast.expr) -> Shape | None:
        """The sizes of an expression; () of a number, None where they are not followed."""
        match node:
            case ast.Constant():
                return ()
            case ast.Name(id=name):
                return self._shapes.get(name, ())
            case ast.UnaryOp(operand=operand):
                return self._shape(operand)
            case ast.BinOp(left=left, right=right):
                return broadcast(self._shape(left), self._shape(right))
            case ast.Compare(left=left, comparators=[right]):
                return broadcast(self._shape(left), self._shape(right))
            case ast.Subscript(value=value, slice=ast.Tuple(elts=indices)):
                return indexed(self._shape(value), indices)
            case ast.Call(args=[first, *_]) if self._called(node) == "load":
                return self._shape(first)
            case ast.Call(args=[_, end]) if self._called(node) == "arange":
                return (ast.unparse(end),)
            case ast.Call() if self._called(node) in ("program_id", "num_programs", "cdiv"):
                return ()
        return None


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Names that a statement binds, each with its value; ``x += y`` keeps what ``x`` is."""
    targets: list[ast.expr]
    match statement:
        case ast.AnnAssign(target=only, value=ast.expr() as value):
            targets = [only]
        case ast.Assign(targets=targets, value=value):
            pass
        case _:
            return
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for each, one in zip(target.elts, value.elts, strict=False):
                if isinstance(each, ast.Name):
                    yield each.id, one
