"""A call put before the body of a method, for one type of device; no torch here."""

import ast

from msgspec import Struct

from opcheck.model.fusing import LayerCode
from opcheck.rewrite.source.call_sites import text_lines
from opcheck.rewrite.source.swapping import after_imports, names_in, with_room
from opcheck.rewrite.text import Module


class Edited(Struct, frozen=True):
    """What came of a source."""

    text: str
    done: tuple[LayerCode, ...]


def edited(text: str, layers: tuple[LayerCode, ...], device_type: str) -> Edited:
    """Have the forward of each layer call the vendor's kernel on its device.

    Args:
        text: the source.
        layers: of that source.
        device_type: on which the vendor's kernel is called; elsewhere the body runs as before.

    Raises:
        SyntaxError: it is not Python.
    """
    tree = ast.parse(text)
    methods = {node.lineno: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    room = Module(text, names_in(text))
    lines = text_lines(text)
    done: list[LayerCode] = []
    for layer in sorted(layers, key=lambda one: -one.line):
        method = methods.get(layer.line)
        if method is None or not _has_lines(method):
            continue
        given = ", ".join(f"{key}={value}" for key, value in layer.arguments)
        call = f"{room.add(*layer.vendor)}({given})"
        tensor = method.args.args[1].arg
        code = _CODE.format(tensor=tensor, device=device_type, plugin=layer.plugin, call=call)
        _insert(lines, method, code)
        done.append(layer)
    if not done:
        return Edited(text, ())
    changed = "".join(lines)
    first = min(layer.line for layer in done)
    return Edited(with_room(changed, after_imports(text, first), room), tuple(done))


def _has_lines(method: ast.FunctionDef) -> bool:
    """Whether it is a forward with lines of its own below its first."""
    body = _body(method)
    takes = len(method.args.args) == 2
    return method.name == "forward" and takes and bool(body) and body[0].lineno > method.lineno


def _body(method: ast.FunctionDef) -> list[ast.stmt]:
    """The statements behind the docstring."""
    return method.body[1:] if ast.get_docstring(method) is not None else method.body


def _insert(lines: list[str], method: ast.FunctionDef, code: str) -> None:
    """Put lines before a method's own, behind its docstring."""
    first = _body(method)[0].lineno - 1
    old = lines[first]
    indent = old[: len(old) - len(old.lstrip())]
    end = old[len(old.rstrip("\r\n")) :] or "\n"
    lines[first:first] = [f"{indent}{line}{end}" if line else end for line in code.splitlines()]


_CODE = """if {tensor}.device.type == "{device}":
    import {plugin}  # noqa: F401  # brings the operator

    return {call}"""
