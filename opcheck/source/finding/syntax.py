"""Small questions about Python's syntax trees, answered without recursion."""

import ast
from collections.abc import Iterator, Mapping

_PASSES_ON = frozenset(
    {"eval", "train", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "npu", "mlu",
     "requires_grad_", "apply"}
)  # fmt: skip
"""Methods of a module that return the module."""
_WRAPS = frozenset(
    {"compile", "DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"}
)
"""What takes a module first and gives it back in another form."""
_TELLING = (ast.Call, ast.Name, ast.Attribute, ast.Tuple, ast.List)
"""Values that tell what a name stands for: ``None`` before the branches of an ``if`` does not."""
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def dotted(node: ast.AST | None) -> str:
    """``torch.nn.Module`` of the expression that spells it; "" of any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of statements, in order, but what functions and classes among them hold."""
    todo: list[ast.AST] = list(reversed(body))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _DEFINES):
            todo += reversed(list(ast.iter_child_nodes(node)))


def made_by(node: ast.AST | None, known: Mapping[str, ast.AST]) -> ast.Call | None:
    """The call that makes the module of an expression; ``known`` has what names were given."""
    for _ in range(16):  # as many steps as anybody writes
        if isinstance(node, ast.Name) and node.id in known:
            node = known[node.id]
        elif isinstance(node, ast.Await):
            node = node.value
        elif isinstance(node, ast.Call):
            inner = _passed_on(node)
            if inner is None:
                return node
            node = inner
        else:
            return None
    return None


def _passed_on(call: ast.Call) -> ast.AST | None:
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in _PASSES_ON:
        return function.value
    name = dotted(function).rpartition(".")[2]
    return call.args[0] if name in _WRAPS and call.args else None


def given(body: list[ast.stmt]) -> dict[str, ast.AST]:
    """What each name of a function was given first."""
    found: dict[str, ast.AST] = {}
    for node in own(body):
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                pass
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                pass
            case _:
                continue
        if isinstance(value, _TELLING) and not _of_itself(target, value):
            found.setdefault(target.id, value)
    return found


def _of_itself(target: ast.Name, value: ast.AST) -> bool:
    """Whether a name is given something of its own value: ``model = model.to(device)``."""
    return any(isinstance(node, ast.Name) and node.id == target.id for node in ast.walk(value))


def required(arguments: ast.arguments, *, method: bool = False) -> tuple[str, ...]:
    """The parameters that have to be given; of a method without that for the object."""
    positional = [*arguments.posonlyargs, *arguments.args]
    kept = positional[: len(positional) - len(arguments.defaults)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return (
        *(one.arg for one in kept[1 if method else 0 :]),
        *(one.arg for one, default in named if default is None),
    )
