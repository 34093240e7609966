"""What the functions of a file under ``@triton.jit`` call, and which dtypes it is called with.

The source is read and never run. Dtypes are followed through assignments alone: a parameter stands
for itself, ``*x`` for what it points to, and a dtype for values of it.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from opcheck.kernel_code import triton_names as names_of
from opcheck.kernel_code.loaded_blocks import loaded_blocks
from opcheck.kernel_code.triton_names import Function
from opcheck.kernel_code.values import calls_of
from opcheck.model.launches import ASSEMBLY, HELPER, Called, KernelCode, Operation

Sources = frozenset[str]
"""Whose dtype a value has."""
_NONE: Sources = frozenset()
_BUILTINS = frozenset(dir(builtins))
_METHODS = {"T": "trans"}
"""Methods of a tensor that have another name as functions."""
_OF_POINTERS = frozenset({"load", "store", "advance", "make_block_ptr", "make_tensor_descriptor"})
_POINTERS_AGAIN = frozenset({"advance", "make_block_ptr", "make_tensor_descriptor"})
_OF_INT32 = frozenset({"arange", "program_id", "num_programs"})
_OF_FLOAT32 = frozenset({"rand", "randn"})
_WITH_DTYPE: Mapping[str, int] = {"zeros": 1, "full": 2, "cast": 1, "to": 1}
"""Functions that are given a dtype, and at which place."""
_OF_TWO = frozenset({"dot"})
"""Functions of two operands, where what follows them has another dtype."""
_NOT_CALLED = frozenset({"constexpr", "core.constexpr", "tensor", "dtype"})


def read_kernels(text: str, file: str) -> Mapping[str, KernelCode]:
    """Every function of a source under ``@triton.jit``, by name.

    Raises:
        SyntaxError: it is not Python.
    """
    return kernels_in(ast.parse(text), file)


def kernels_in(tree: ast.AST, file: str) -> Mapping[str, KernelCode]:
    """Every function of a parsed source under ``@triton.jit``, by name; the last of a name holds.

    What a function calls of the others is among what it calls, without the dtypes.
    """
    names = names_of.imported(tree)
    found = {function.name: function for function in names_of.functions(tree, names)}
    readers = {name: _Reader(function, names, found) for name, function in found.items()}
    return {name: _merged(name, readers, file) for name in readers}


def _merged(name: str, readers: Mapping[str, "_Reader"], file: str) -> KernelCode:
    reader = readers[name]
    operations = list(reader.operations())
    dtypes, unread = set(reader.dtypes), set(reader.unread)
    for helper in _reached(name, readers):
        other = readers[helper]
        operations += [replace(each, of=()) for each in other.operations()]
        dtypes |= other.dtypes
        unread |= other.unread
    first: dict[tuple[object, ...], Operation] = {}
    for each in sorted(operations):
        first.setdefault((each.name, each.of, each.given), each)
    return KernelCode(
        name=name, file=file, line=reader.function.lineno, parameters=reader.parameters,
        constants=reader.constants, operations=tuple(sorted(first.values())),
        dtypes=tuple(sorted(dtypes)), unread=tuple(sorted(unread)),
        blocks=loaded_blocks(reader.function, reader.names),
        calls=tuple(sorted({*_calls(name, readers, set())})),
    )  # fmt: skip


def _calls(name: str, readers: Mapping[str, "_Reader"], seen: set[str]) -> Iterator[Called]:
    """What every run of a function calls, and what its functions pass on that every run calls."""
    seen.add(name)
    own = calls_of(readers[name].function, readers[name].names)
    yield from own
    for each in own:
        if each.name == HELPER and each.text in readers and each.text not in seen:
            inner = _calls(each.text, readers, seen)
            yield from (one for one in inner if one.name in (ASSEMBLY, HELPER))


def _reached(name: str, readers: Mapping[str, "_Reader"]) -> Iterator[str]:
    """The functions that one calls, and those that they call, each once, without itself."""
    seen, pending = {name}, sorted(readers[name].helpers)
    while pending:
        helper = pending.pop()
        if helper not in seen:
            seen.add(helper)
            yield helper
            pending += sorted(readers[helper].helpers)


class _Reader:
    """Reads one function, from its first statement to its last."""

    def __init__(
        self, function: Function, names: Mapping[str, str], known: Mapping[str, Function]
    ) -> None:
        self.function = function
        self.names = names
        self._known = known
        arguments = function.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self.parameters = tuple(argument.arg for argument in every)
        self.constants = tuple(
            argument.arg for argument in every if names_of.is_constant(argument.annotation, names)
        )
        self.dtypes: set[str] = set()
        self.unread: set[str] = set()
        self.helpers: set[str] = set()
        self._found: dict[Operation, None] = {}
        self._bound: dict[str, Sources] = {
            name: frozenset({name}) for name in self.parameters if name not in self.constants
        }
        try:
            for statement in function.body:
                self._statement(statement)
        except RecursionError:  # deeper than Python follows
            self.unread.add(function.name)

    def operations(self) -> Iterator[Operation]:
        """What it calls itself, in order."""
        yield from self._found

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self._value(value)
                for target in targets:
                    self._bind(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self._value(value))
            case ast.AugAssign(target=target, value=value):
                self._bind(target, self._value(target) | self._value(value))
            case _:
                self._inside(node)

    def _inside(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self._statement(child)
            elif isinstance(child, ast.expr):
                self._value(child)
            else:
                self._inside(child)

    def _bind(self, target: ast.expr, found: Sources) -> None:
        if isinstance(target, ast.Name):
            self._bound[target.id] = found
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(each, found)

    def _value(self, node: ast.expr) -> Sources:
        """Whose dtype an expression has; everything that it calls is noted."""
        match node:
            case ast.Name(id=name):
                if name in self._known:
                    self.helpers.add(name)
                return self._bound.get(name, _NONE)
            case ast.Call():
                return self._call(node)
            case ast.Compare():
                self._inside(node)
                return frozenset({"bool"})
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._value(test)
                return self._value(body) | self._value(orelse)
            case ast.Subscript(value=value, slice=at):
                self._value(at)
                return self._value(value)
            case ast.Attribute():
                return self._attribute(node)
        return self._all(child for child in ast.iter_child_nodes(node))

    def _all(self, nodes: Iterator[ast.AST]) -> Sources:
        found = _NONE
        for node in nodes:
            if isinstance(node, ast.expr):
                found |= self._value(node)
            elif not isinstance(node, ast.expr_context | ast.operator | ast.unaryop):
                self._inside(node)
        return found

    def _attribute(self, node: ast.Attribute) -> Sources:
        named = names_of.dtype(node, self.names)
        if named:
            self.dtypes.add(named)
            return frozenset({named})
        inner = self._value(node.value)
        if node.attr == "element_ty":
            return frozenset(f"*{name}" for name in inner if name in self.parameters)
        return inner

    def _call(self, node: ast.Call) -> Sources:
        given = [self._value(argument) for argument in node.args]
        by_name = {word.arg: self._value(word.value) for word in node.keywords if word.arg}
        name = names_of.in_language(node.func, self.names)
        if name in _NOT_CALLED:
            return given[0] if given else _NONE
        if name:
            return self._operation(name, node, given, by_name)
        return self._other_call(node, given, by_name)

    def _other_call(
        self, node: ast.Call, given: list[Sources], by_name: dict[str, Sources]
    ) -> Sources:
        """A method of a tensor, a function of the file's, or one that is not here to be read."""
        called = node.func
        meant = names_of.meaning(called, self.names)
        if isinstance(called, ast.Attribute) and not meant:
            value = self._value(called.value)
            name = _METHODS.get(called.attr, called.attr)
            if name in ("load", "store"):  # of a descriptor
                name = f"{name}_tensor_descriptor"
            return self._operation(name, node, [value, *given], by_name)
        if isinstance(called, ast.Name) and called.id in self._known:
            self.helpers.add(called.id)
        elif not self._is_plain(called, meant):
            self.unread.add(ast.unparse(called))
        return _NONE

    def _is_plain(self, called: ast.expr, meant: str) -> bool:
        """Whether a function is Python's own, or one of Triton's that computes with constants."""
        if meant:
            return meant.startswith("triton.")
        return isinstance(called, ast.Name) and called.id in _BUILTINS

    def _operation(
        self, name: str, node: ast.Call, given: list[Sources], by_name: dict[str, Sources]
    ) -> Sources:
        pointers = name in _OF_POINTERS or name.startswith("atomic_") or "descriptor" in name
        operands = self._operands(name, given, by_name, pointers)
        if pointers:
            of = {source for source in operands if source in self.parameters}
        else:
            of = {source.removeprefix("*") for source in operands if source not in self.parameters}
        self._found.setdefault(Operation(name, node.lineno, tuple(sorted(of)), _texts(node)))
        return self._result(name, given, by_name, operands)

    def _operands(
        self, name: str, given: list[Sources], by_name: dict[str, Sources], pointers: bool
    ) -> Sources:
        """Whose dtype is that of what an operation computes with."""
        if name in _OF_TWO:
            return _NONE.union(*given[:2])
        if pointers or name in _WITH_DTYPE:
            return given[0] if given else next(iter(by_name.values()), _NONE)
        return _NONE.union(*given)

    def _result(
        self, name: str, given: list[Sources], by_name: dict[str, Sources], operands: Sources
    ) -> Sources:
        """Whose dtype the result of an operation has."""
        if name in _POINTERS_AGAIN:
            return frozenset(operands & {*self.parameters})
        if name in ("load", "load_tensor_descriptor") or name.startswith("atomic_"):
            return frozenset(f"*{source}" for source in operands if source in self.parameters)
        if name in _WITH_DTYPE:
            place = _WITH_DTYPE[name]
            return by_name.get("dtype") or (given[place] if len(given) > place else _NONE)
        if name in _OF_INT32:
            return frozenset({"int32"})
        if name in _OF_FLOAT32:
            return frozenset({"float32"})
        if name in _OF_TWO:
            return by_name.get("acc") or by_name.get("out_dtype") or _NONE.union(*given[2:3])
        if name == "where":
            operands = _NONE.union(*given[1:])
        return frozenset(source for source in operands if source not in self.parameters)


def _texts(node: ast.Call) -> tuple[tuple[str, str], ...]:
    """The keyword arguments of a call that are texts."""
    return tuple(
        sorted(
            (word.arg, word.value.value)
            for word in node.keywords
            if word.arg and isinstance(word.value, ast.Constant)
            if isinstance(word.value.value, str)
        )
    )
