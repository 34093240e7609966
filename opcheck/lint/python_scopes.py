"""What names mean in each scope of a Python source, and which lines only CUDA reaches."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from opcheck.lang.sentence import Sentence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)


@dataclass(eq=False, slots=True)
class Scope:
    """The names that one module, class or function binds."""

    parent: "Scope | None"
    is_class: bool = False
    imported: dict[str, set[str]] = field(default_factory=dict)
    """Name -> the dotted names that it was imported as."""
    bound: set[str] = field(default_factory=set)
    """Names that are bound in any other way, but to a constant: ``flash_attn = None``."""

    def means(self, name: str) -> str:
        """The dotted name that a name was imported as; "" where it means something else."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if first or not scope.is_class:
                if name in scope.bound:
                    return ""
                found = scope.imported.get(name)
                if found is not None:
                    return next(iter(found)) if len(found) == 1 else ""
            first, scope = False, scope.parent
        return ""


def scopes_of(tree: ast.Module) -> dict[ast.AST, Scope]:
    """Every node with the scope that its names are looked up in."""
    module = Scope(None)
    found: dict[ast.AST, Scope] = {}
    constants: set[ast.AST] = set()
    pending: list[tuple[ast.AST, Scope]] = [(tree, module)]
    while pending:
        node, scope = pending.pop()
        found[node] = scope
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            constants.update(node.targets)
        if isinstance(node, _FUNCTIONS):
            found[node.args] = scope
        if node not in constants:
            _bind(node, scope)
        inner = Scope(scope, isinstance(node, ast.ClassDef)) if isinstance(node, _SCOPES) else scope
        for outside, child in _children(node):
            pending.append((child, scope if outside else inner))
    return found


def _children(node: ast.AST) -> Iterator[tuple[bool, ast.AST]]:
    """What is in a node, and whether that is of the scope around it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = node.args
        around: list[ast.AST] = [*arguments.defaults, *(d for d in arguments.kw_defaults if d)]
        if not isinstance(node, ast.Lambda):
            around += node.decorator_list
            around += [node.returns] if node.returns else []
        yield from ((True, child) for child in around)
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        rest = [a for a in (arguments.vararg, arguments.kwarg) if a]
        yield from ((False, child) for child in (*every, *rest))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        yield from ((False, child) for child in body)
        return
    if isinstance(node, ast.ClassDef):
        around = [*node.decorator_list, *node.bases, *node.keywords]
        yield from ((True, child) for child in around)
        yield from ((False, child) for child in node.body)
        return
    yield from ((False, child) for child in ast.iter_child_nodes(node))


def _bind(node: ast.AST, scope: Scope) -> None:
    """Note what a node binds in a scope."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                name = alias.asname or alias.name.partition(".")[0]
                meant = alias.name if alias.asname else name
                scope.imported.setdefault(name, set()).add(meant)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            for alias in names:
                if alias.name != "*":
                    name = alias.asname or alias.name
                    scope.imported.setdefault(name, set()).add(f"{module}.{alias.name}")
        case ast.ImportFrom(names=names):
            scope.bound |= {alias.asname or alias.name for alias in names}
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            scope.bound.add(name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.bound.add(name)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            scope.bound.add(name)
        case _:
            pass


_AVAILABLE = frozenset({"torch.cuda.is_available", "torch.cuda.is_initialized"})
_MISSING = frozenset(
    {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "RuntimeError", "OSError"}
)

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)

Meaning = Callable[[ast.AST], str]


def guarded_by(parent: ast.AST, child: ast.AST, meaning: Meaning) -> str:
    """What ``parent`` asks before ``child`` is reached; "" for nothing."""
    match parent:
        case ast.If(test=test, body=body) if child in body and (found := _asks(test, meaning)):
            return found
        case ast.If(test=test, orelse=orelse) if child in orelse and (
            found := _asks_not(test, meaning)
        ):
            return found
        case ast.IfExp(test=test, body=body) if child is body:
            return _asks(test, meaning)
        case ast.IfExp(test=test, orelse=orelse) if child is orelse:
            return _asks_not(test, meaning)
        case ast.Dict(keys=keys, values=values) if child in values:
            key = keys[values.index(child)]
            return (
                Sentence("not reached: it is for {text}", text=ast.unparse(key))
                if key and _is_cuda(key)
                else ""
            )
        case ast.BoolOp(op=operator, values=values) if child in values:
            asks = _asks if isinstance(operator, ast.And) else _asks_not
            before = values[: values.index(child)]
            return next((found for v in before if (found := asks(v, meaning))), "")
        case _:
            return ""


def left_before(node: ast.AST, meaning: Meaning) -> Iterator[tuple[ast.stmt, str]]:
    """Each statement in a node behind one that leaves its block where CUDA is missing."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        known = ""
        for statement in block if isinstance(block, list) else ():
            if known:
                yield statement, known
            known = known or _left_unless(statement, meaning)


def _left_unless(statement: ast.stmt, meaning: Meaning) -> str:
    """What is known behind ``if not torch.cuda.is_available(): return``."""
    match statement:
        case ast.If(test=test, body=[*_, last], orelse=[]) if isinstance(last, _LEAVES):
            return _asks_not(test, meaning)
        case _:
            return ""


def caught_by(parent: ast.AST, child: ast.AST) -> str:
    """Which handler takes over where a package that ``child`` imports is missing."""
    if isinstance(parent, ast.Try) and child in parent.body:
        return _caught(parent.handlers)
    return ""


def is_cuda_test(node: ast.AST, meaning: Meaning) -> bool:
    """Whether an expression is true on CUDA alone."""
    match node:
        case ast.Call(func=ast.Attribute(attr="startswith"), args=[ast.Constant(value=str(text))]):
            return text.startswith("cuda")
        case ast.Call(func=function):
            return meaning(function) in _AVAILABLE
        case ast.Attribute(attr="is_cuda"):
            return True
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return _is_cuda(left) or _is_cuda(right)
        case ast.Compare(left=left, ops=[ast.In()]):
            return _is_cuda(left)
        case _:
            return False


def _is_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cuda"


def _asks(test: ast.AST, meaning: Meaning) -> str:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return next((found for v in values if (found := _asks(v, meaning))), "")
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _asks_not(operand, meaning)
        case _ if is_cuda_test(test, meaning):
            return Sentence("not reached: {text} is False there", text=ast.unparse(test)[:60])
        case _:
            return ""


def _asks_not(test: ast.AST, meaning: Meaning) -> str:
    """What is known where ``test`` is false."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _asks(operand, meaning)
        case ast.BoolOp(op=ast.Or(), values=values):
            return next((found for v in values if (found := _asks_not(v, meaning))), "")
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]) if _is_cuda(
            left
        ) or _is_cuda(right):
            return Sentence("not reached: {text} is True there", text=ast.unparse(test)[:60])
        case ast.Compare(left=left, ops=[ast.NotIn()]) if _is_cuda(left):
            return Sentence("not reached: {text} is True there", text=ast.unparse(test)[:60])
        case _:
            return ""


def _caught(handlers: list[ast.ExceptHandler]) -> str:
    """What is caught of a missing package."""
    for handler in handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for kind in kinds:
            name = kind.id if isinstance(kind, ast.Name) else ""
            if kind is None or name in _MISSING:
                return f"except {name}" if name else "except"
    return ""
