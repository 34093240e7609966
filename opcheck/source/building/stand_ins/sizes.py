"""Sizes as files write them: names, whole numbers, ``+ - * // %``, ``min``, ``max``, ``[i]``.

Evaluated here, node by node: nothing that a file holds is run as Python.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Sizes = Mapping[str, Any]
"""What names stand for: a size, a list of sizes, or None where an argument was left out."""

_LARGEST = 1 << 48
_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_FUNCTIONS: Mapping[str, Callable[..., int]] = {"min": min, "max": max}


class SizeError(ValueError):
    """An expression that is none, or that has no value here."""


class OpenSizeError(NotImplementedError):
    """A size that only the data knows."""


def dimensions(shape: Sequence[str], sizes: Sizes) -> list[int]:
    """The sizes that the expressions of a shape have.

    Raises:
        SizeError: one of them is not written as one, or has no value.
        OpenSizeError: one of them is an argument that was left out.
    """
    found: list[int] = []
    for text in shape:
        if text.endswith("..."):
            run = _named(text.removesuffix("...").strip(), sizes, text)
            found += run if isinstance(run, list | tuple) else [run]
        else:
            found.append(value_of(text, sizes))
    return found


def value_of(text: str, sizes: Sizes) -> int:
    """The value of one expression."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SizeError(f"{text!r} is no expression of sizes") from error
    try:
        value = _value(tree, sizes, text)
    except ZeroDivisionError as error:
        raise SizeError(f"{text!r} divides by zero") from error
    if isinstance(value, list | tuple):
        raise SizeError(f"{text!r} is a list; write {text}... for all of it, or {text}[0]")
    if value < 0:
        raise SizeError(f"{text!r} is {value}, and no size is below 0")
    return int(value)


def _value(node: ast.expr, sizes: Sizes, text: str) -> Any:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return _named(name, sizes, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, sizes, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            value = _OPERATIONS[type(op)](_number(left, sizes, text), _number(right, sizes, text))
            if abs(value) > _LARGEST:
                raise SizeError(f"{text!r} is larger than any tensor")
            return value
        case ast.Call(ast.Name(id=name), [_, _, *_] as args, []) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_number(arg, sizes, text) for arg in args))
        case ast.Subscript(value=ast.Name(id=name), slice=at):
            listed, place = _named(name, sizes, text), _number(at, sizes, text)
            if not isinstance(listed, list | tuple) or not -len(listed) <= place < len(listed):
                raise SizeError(f"{text!r}: {name} has no item {place}")
            return listed[place]
    raise SizeError(f"{text!r} is no expression of sizes (names, numbers, + - * // %, min, max)")


def _number(node: ast.expr, sizes: Sizes, text: str) -> Any:
    value = _value(node, sizes, text)
    if isinstance(value, list | tuple):
        raise SizeError(f"{text!r} computes with a list")
    return value


def _named(name: str, sizes: Sizes, text: str) -> Any:
    if name not in sizes:
        raise SizeError(f"{text!r}: there is no {name!r}; known: {', '.join(sorted(sizes))}")
    if sizes[name] is None:
        raise OpenSizeError(f"the size {text!r} depends on data, as {name} is not given")
    return sizes[name]
