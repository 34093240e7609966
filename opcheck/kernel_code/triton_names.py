"""What names in a file mean to Triton: its language, its dtypes, functions under ``jit``."""

import ast
from collections.abc import Iterator, Mapping

LANGUAGE = "triton.language"
JIT = frozenset({"triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit"})
"""Decorators of a kernel, and of a function that kernels call."""
_DTYPES: Mapping[str, str] = {
    "int1": "bool", "float8e4nv": "float8_e4m3fn", "float8e5": "float8_e5m2",
    "float8e4b8": "float8_e4m3fnuz", "float8e5b16": "float8_e5m2fnuz",
    **dict.fromkeys(("float8e4b15",), "float8e4b15"),
    **{
        name: name
        for name in (
            "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "bfloat16", "float32", "float64",
        )
    },
}  # fmt: skip
"""Names in ``triton.language`` -> what torch calls the dtype."""

Function = ast.FunctionDef


def imported(tree: ast.AST) -> Mapping[str, str]:
    """Every name that an import statement of a file binds -> the dotted name that it means."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module or ''}"
            for alias in node.names:
                found[alias.asname or alias.name] = f"{module}.{alias.name}"
    return found


def meaning(node: ast.AST, names: Mapping[str, str]) -> str:
    """The dotted name that an expression means by a file's imports; "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])


def in_language(node: ast.AST, names: Mapping[str, str]) -> str:
    """What an expression means below ``triton.language``: ``load``, ``math.exp``; "" for none.

    The functions of the device's library have one name, whichever device's module is imported.
    """
    meant = meaning(node, names)
    below = meant.removeprefix(f"{LANGUAGE}.")
    if below == meant:
        return ""
    if below.startswith(("extra.", "libdevice.")) and ".libdevice." in f".{below}":
        return f"extra.libdevice.{below.rpartition('libdevice.')[2]}"
    return below


def dtype(node: ast.AST | None, names: Mapping[str, str]) -> str:
    """The dtype that an expression names, as torch calls it; "" for anything else."""
    return "" if node is None else _DTYPES.get(in_language(node, names), "")


def is_constant(annotation: ast.expr | None, names: Mapping[str, str]) -> bool:
    """Whether a parameter is ``tl.constexpr``, also as a string or as ``tl.constexpr[int]``."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.Constant):
        return str(annotation.value).rpartition(".")[2] == "constexpr"
    return annotation is not None and in_language(annotation, names) in (
        "constexpr", "core.constexpr",
    )  # fmt: skip


def decorator_of(function: Function, names: Mapping[str, str]) -> ast.expr | None:
    """The ``@triton.jit`` of a function, or None."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if meaning(called, names) in JIT:
            return decorator
    return None


def functions(tree: ast.AST, names: Mapping[str, str]) -> Iterator[Function]:
    """The functions of a file that are under ``@triton.jit``."""
    for node in ast.walk(tree):
        if isinstance(node, Function) and decorator_of(node, names) is not None:
            yield node
