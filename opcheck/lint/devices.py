"""Where a Python source names a device: strings in places that take one, and nowhere else."""

import ast
import re
from collections.abc import Iterator

from opcheck.lint.base import Spot
from opcheck.lint.python_source import PythonSource

CUDA = re.compile(r"cuda(?::\d+)?")
_LITERAL = re.compile(r"""[uUrR]?(?P<quote>"{3}|'{3}|"|')(?P<name>cuda)(?::\d+)?(?P=quote)""")
_F_LITERAL = re.compile(r"""(?:[fF][rR]?|[rR][fF])(?:"{3}|'{3}|"|')(?P<name>cuda):\{""")
_KEYWORDS = frozenset({"device", "map_location", "output_device", "default_device"})
_FIRST = frozenset(
    {"torch.device", "torch.set_default_device", "torch.Generator", "torch.get_device_module",
     "torch.Stream", "torch.Event"}
)  # fmt: skip
_MODES = frozenset(
    {"torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler", "torch.GradScaler",
     "torch.amp.custom_fwd", "torch.amp.custom_bwd"}
)  # fmt: skip
"""What a device type switches on, and nothing else happens where another one is in use."""
_METHODS = frozenset({"to", "to_empty"})

Named = tuple[ast.expr, bool]
"""A string that names a device, and whether it is of a mode alone."""


def named_devices(source: PythonSource) -> Iterator[Named]:
    """Every string that names CUDA where a device is taken, each once."""
    seen: set[ast.expr] = set()
    for node in source.nodes:
        for value, is_mode in _taken(node, source):
            for string in _strings(value):
                if string not in seen:
                    seen.add(string)
                    yield string, is_mode


def _taken(node: ast.AST, source: PythonSource) -> Iterator[Named]:
    """The expressions in a node that are devices."""
    match node:
        case ast.Call():
            yield from _of_call(node, source)
        case ast.Assign(targets=targets, value=value):
            if any(_is_device(target) for target in targets):
                yield value, False
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_device(target):
            yield value, False
        case ast.arguments():
            yield from _of_parameters(node)
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value in ("device", "map_location"):
                    yield value, False
        case _:
            return


def _of_call(call: ast.Call, source: PythonSource) -> Iterator[Named]:
    meant = source.meaning(call.func)
    first = call.args[:1]
    if meant in _FIRST or meant in _MODES:
        yield from ((value, meant in _MODES) for value in first)
    elif meant == "torch.load":
        yield from ((value, False) for value in call.args[1:2])
    elif not meant and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        yield from ((value, False) for value in first)
    for keyword in call.keywords:
        if keyword.arg in _KEYWORDS:
            yield keyword.value, meant in _MODES
        elif keyword.arg == "device_type":
            yield keyword.value, True
        elif keyword.arg == "default" and _is_option(call):
            yield keyword.value, False


def _is_option(call: ast.Call) -> bool:
    """Whether it adds a command-line option for a device."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("add_argument", "option")):
        return False
    return any(
        isinstance(a, ast.Constant) and isinstance(a.value, str) and a.value.endswith("device")
        for a in call.args
    )


def _of_parameters(node: ast.arguments) -> Iterator[Named]:
    plain = [*node.posonlyargs, *node.args]
    defaults = zip(plain[len(plain) - len(node.defaults) :], node.defaults, strict=True)
    of_keywords = zip(node.kwonlyargs, node.kw_defaults, strict=True)
    for parameter, default in (*defaults, *of_keywords):
        if default is not None and _names_device(parameter.arg):
            yield default, False


def _is_device(target: ast.expr) -> bool:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _names_device(name)
        case _:
            return False


def _names_device(name: str) -> bool:
    lower = name.lower()
    return lower in ("device", "map_location") or lower.endswith("_device")


def _strings(value: ast.expr) -> Iterator[ast.expr]:
    """The strings that name CUDA among those that an expression may give."""
    match value:
        case ast.Constant(value=str(text)) if CUDA.fullmatch(text):
            yield value
        case ast.JoinedStr(values=[ast.Constant(value="cuda:"), *_]):
            yield value
        case ast.BinOp(left=ast.Constant(value="cuda:") as left, op=ast.Add()):
            yield left
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_strings(body), *_strings(orelse))
        case ast.BoolOp(values=values):
            for each in values:
                yield from _strings(each)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")) if (
            text.startswith("cuda:")
        ):
            yield value
        case _:
            return


def spot_of(source: PythonSource, node: ast.expr) -> Spot | None:
    """Where the word itself stands; None where it cannot be replaced alone."""
    place = source.exactly(node)
    if place is None:
        return None
    start, end = place
    written = source.text[start:end]
    match = _LITERAL.fullmatch(written) or _F_LITERAL.match(written)
    if match is None:
        return None
    return Spot(start + match.start("name"), start + match.end("name"), match["name"])
