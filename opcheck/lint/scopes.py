"""Which names mean what was imported, scope by scope."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

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
