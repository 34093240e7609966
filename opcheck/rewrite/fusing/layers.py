"""Layers of the user's whose whole forward is one fusion: how it is written in their class."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from torch import nn
from torch.fx import Node

from opcheck.model.fusing import LayerCode
from opcheck.rewrite.fusing.base import Fusion
from opcheck.rewrite.fusing.nodes import is_check, name_of, source
from opcheck.rewrite.fusing.program import FUSED, FusedProgram, Site, module_of
from opcheck.rewrite.text import standalone


class _Call(Struct, frozen=True):
    """A fusion as one class would call it."""

    fusion: Fusion
    arguments: tuple[tuple[str, str], ...]
    """Name of an argument -> the expression in ``forward``."""


def layers_of(model: nn.Module, found: FusedProgram) -> tuple[LayerCode, ...]:
    """The classes all of whose layers are wholly fused, alike, and how to write their forward."""
    parameters = found.program.graph_signature.inputs_to_parameters
    by_module: dict[str, list[Site]] = {}
    for site in found.sites:
        by_module.setdefault(site.module, []).append(site)
    others = {module_of(node) for node in found.program.graph_module.graph.nodes if _works(node)}
    calls: dict[type[nn.Module], set[_Call | None]] = {}
    paths: dict[type[nn.Module], list[str]] = {}
    for path, layer in model.named_modules():
        sites = by_module.get(path, [])
        alone = len(sites) == 1 and path not in others
        one = _call_of(layer, path, sites[0], parameters) if alone else None
        calls.setdefault(type(layer), set()).add(one)
        paths.setdefault(type(layer), []).append(path)
    codes = (_code(kind, ways, paths[kind]) for kind, ways in calls.items())
    return tuple(code for code in codes if code is not None)


def _works(node: Node) -> bool:
    """Whether a node is a call that was not fused."""
    fused = FUSED in node.meta or is_check(node) or source(node) is not node
    return node.op == "call_function" and not fused and bool(name_of(node))


def _call_of(
    layer: nn.Module, path: str, site: Site, parameters: Mapping[str, str]
) -> _Call | None:
    """How the layer's forward would call the fusion; None where it takes more than one input."""
    takes = [*inspect.signature(type(layer).forward).parameters][1:]
    prefix = f"{path}." if path else ""
    arguments: list[tuple[str, str]] = []
    for name, node in site.match.tensors.items():
        own = parameters.get(node.name, "")
        if own.startswith(prefix) and own and "." not in own.removeprefix(prefix):
            arguments.append((name, f"self.{own.removeprefix(prefix)}"))
        elif len(takes) == 1 and not own:
            arguments.append((name, takes[0]))
        else:
            return None
    if sum(expression == takes[0] for _, expression in arguments) != 1:
        return None
    numbers = [(name, _number(layer, value)) for name, value in site.match.numbers.items()]
    return _Call(site.fusion, (*arguments, *numbers))


def _number(layer: nn.Module, value: Any) -> str:
    """The attribute that has a number, or the number itself."""
    held = [n for n, v in vars(layer).items() if type(v) is type(value) and v == value]
    return f"self.{held[0]}" if len(held) == 1 else repr(value)


def _code(kind: type[nn.Module], ways: set[_Call | None], paths: Sequence[str]) -> LayerCode | None:
    """How a class is written anew; None where its layers differ, or no file of it is known."""
    (one, *more) = ways
    if one is None or more or not one.fusion.operators:
        return None
    file, line = _place(kind)
    if not file or any(op.name.startswith("aten::") for op in one.fusion.operators):
        return None
    vendor = _vendors(one)
    return LayerCode(
        file=file,
        line=line,
        name=kind.__qualname__,
        rule=one.fusion.name,
        plugin=one.fusion.operators[0].plugin,
        vendor=(standalone(vendor), vendor.__name__),
        arguments=one.arguments,
        modules=tuple(paths),
    )


def _vendors(one: _Call) -> Callable[..., Any]:
    """What calls the vendor's kernel."""
    short = type(one.fusion).in_class
    asked = {name for name, _ in one.arguments}
    if short is not None and {*inspect.signature(short).parameters} == asked:
        return short
    return type(one.fusion).replace


def _place(kind: type[nn.Module]) -> tuple[str, int]:
    """The file and line of a class's own forward; "" where it has none that can be read."""
    if "forward" not in vars(kind):
        return "", 0
    try:
        lines, first = inspect.getsourcelines(kind.forward)
        file = inspect.getsourcefile(kind) or ""
    except (OSError, TypeError):
        return "", 0
    start = next(place for place, line in enumerate(lines) if line.lstrip().startswith("def "))
    return file, first + start
