"""Inputs that a project's own code calls a model on: tensors whose sizes stand in its text."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from opcheck.model.trace import DTYPE_BYTES
from opcheck.source.finding.syntax import dotted, given, made_by, own
from opcheck.source.inputs import DEFAULT_DTYPE

_FLOATS = frozenset({"randn", "rand", "zeros", "ones", "empty", "normal"})
_LIKE_RANGE = "randint"
_EXPORTS: Mapping[str, int] = {
    "torch.onnx.export": 1,
    "torch.export.export": 1,
    "torch.jit.trace": 1,
    "onnx.export": 1,
    "jit.trace": 1,
    "summary": -1,
}
"""What is given a model and its inputs -> where these stand; -1: as ``input_size``."""
_MOST_SIZE = 1 << 20
_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32",
    "long": "int64",
}  # fmt: skip
"""Other names that torch has for its dtypes."""


class Call(Struct, frozen=True):
    """One call of a model on inputs whose sizes are written down."""

    made_by: str
    """Name, with dots, of what made the model."""
    inputs: tuple[str, ...]
    """As ``--input`` has them."""
    line: int


def calls_in(tree: ast.Module) -> Iterator[Call]:
    """The calls in a file: of models that are made in the same function, or at the top."""
    top = given(tree.body)
    bodies = [tree.body, *(n.body for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))]
    for body in bodies:
        known = {**top, **given(body)}
        for node in own(body):
            if isinstance(node, ast.Call):
                yield from _call(node, known)


def _call(node: ast.Call, known: Mapping[str, ast.AST]) -> Iterator[Call]:
    name = dotted(node.func)
    if name in _EXPORTS:
        model = made_by(node.args[0] if node.args else None, known)
        found = _exported(node, _EXPORTS[name], known)
    else:
        model = made_by(node.func, known)
        found = inputs_of([*node.args], {k.arg: k.value for k in node.keywords}, known)
    if model is not None and found and (maker := dotted(model.func)):
        yield Call(maker, found, node.lineno)


def _exported(node: ast.Call, at: int, known: Mapping[str, ast.AST]) -> tuple[str, ...]:
    if at < 0:
        sizes = next((k.value for k in node.keywords if k.arg == "input_size"), None)
        return _text(_sizes([sizes] if sizes is not None else []), "")
    if len(node.args) <= at:
        return ()
    value: ast.AST = node.args[at]
    if isinstance(value, ast.Name):
        value = known.get(value.id, value)
    return inputs_of(value.elts if isinstance(value, ast.Tuple) else [value], {}, known)


def inputs_of(
    args: Sequence[ast.AST], named: Mapping[str | None, ast.AST], known: Mapping[str, ast.AST]
) -> tuple[str, ...]:
    """Arguments as ``--input`` has them; () where one of them is not written down."""
    found: list[str] = []
    for name, value in [*((None, one) for one in args), *named.items()]:
        text = _tensor(value, known)
        if not text:
            return ()
        found.append(f"{name}={text}" if name else text)
    return tuple(found)


def _tensor(value: ast.AST, known: Mapping[str, ast.AST]) -> str:
    for _ in range(4):
        if isinstance(value, ast.Name) and value.id in known:
            value = known[value.id]
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr not in ("to", "cuda", "cpu", "float"):
                break
            value = value.func.value
    if not isinstance(value, ast.Call):
        return ""
    library, _, maker = dotted(value.func).rpartition(".")
    if library != "torch":
        return ""
    named = {one.arg: one.value for one in value.keywords}
    dtype = dotted(named.get("dtype")).rpartition(".")[2]
    if maker in _FLOATS:
        return "".join(_text(_sizes(value.args or [named.get("size")]), dtype))
    if maker == _LIKE_RANGE:
        shape = named.get("size") or (value.args[-1] if len(value.args) > 1 else None)
        return "".join(_text(_sizes([shape]), dtype or "int64"))
    return ""


def _sizes(values: Sequence[ast.AST | None]) -> tuple[int, ...]:
    """The sizes of a shape; () where one is no number."""
    first = values[0] if len(values) == 1 else None
    every: Sequence[ast.AST | None] = (
        first.elts if isinstance(first, ast.Tuple | ast.List) else values
    )
    found = tuple(one.value for one in every if isinstance(one, ast.Constant))
    sizes = tuple(n for n in found if type(n) is int and 0 < n <= _MOST_SIZE)
    return sizes if len(sizes) == len(every) else ()


def _text(sizes: tuple[int, ...], dtype: str) -> tuple[str, ...]:
    dtype = _ALIASES.get(dtype, dtype) or DEFAULT_DTYPE
    if not sizes or dtype not in DTYPE_BYTES:
        return ()
    return (f"{'x'.join(map(str, sizes))}:{dtype}",)
