"""Calls of a graph as they are compared: what changes nothing is seen through."""

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

_CASTS = frozenset({"aten::to", "aten::_to_copy", "aten::type_as", "aten::float"})
_SAME = frozenset({"aten::alias", "aten::detach", "aten::lift_fresh", "aten::contiguous"})
"""What gives its first argument, where that has the layout already."""
_DROPOUTS = frozenset({"aten::dropout", "aten::feature_dropout"})
CHECKS = frozenset({"aten::_assert_tensor_metadata"})
"""What an exported program asks of a tensor between two calls."""


def name_of(node: Any) -> str:
    """The operator that a node calls, without its overload; "" where it calls none."""
    target = node.target if isinstance(node, Node) and node.op == "call_function" else None
    return str(target._schema.name) if isinstance(target, torch._ops.OpOverload) else ""


def is_check(node: Node) -> bool:
    """Whether a node only asks something of its argument."""
    return name_of(node) in CHECKS


def writes(node: Node) -> bool:
    """Whether a call writes to one of its arguments."""
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and bool(target._schema.is_mutable)


def value(node: Any) -> Any:
    """What a node gives, without values; anything else is what it is."""
    return node.meta.get("val") if isinstance(node, Node) else node


def example_of(size: int | torch.SymInt) -> int:
    """A size; one that the program leaves open, as it was when the program was exported."""
    if isinstance(size, torch.SymInt):
        return int(size.node.hint or 1)  # private, checked on 2.13.0: int() would settle it
    return size


def guards_of(result: Any) -> list[Any]:
    """What has been settled of sizes that a program leaves open, in the order that it was."""
    mode = getattr(result, "fake_mode", None)
    shapes = getattr(mode, "shape_env", None)
    return [] if shapes is None else shapes.guards  # private, checked on 2.13.0


def through_casts(node: Any) -> Iterator[Any]:
    """The node, then what it is a cast of, and so on."""
    yield node
    while isinstance(node, Node) and (name_of(node) in _CASTS or _idles(node)):
        node = node.args[0]
        yield node


def source(node: Any) -> Any:
    """The node that really gives what this one does."""
    while isinstance(node, Node) and _idles(node):
        node = node.args[0]
    return node


def between(node: Any, end: Any) -> Iterator[Node]:
    """The nodes seen through from one to another, without the last."""
    while isinstance(node, Node) and node is not end:
        yield node
        node = node.args[0]


def _idles(node: Node) -> bool:
    """Whether a node gives its first argument as it is."""
    name = name_of(node)
    given, result = value(node.args[0]) if node.args else None, value(node)
    if not isinstance(given, Tensor) or not isinstance(result, Tensor):
        return False
    if name in _DROPOUTS:
        return not _argument(node, 2, "train") or _argument(node, 1, "p") == 0
    if name in _CASTS:
        return given.dtype == result.dtype and given.device == result.device
    return name in _SAME and given.stride() == result.stride()


def _argument(node: Node, place: int, name: str) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs.get(name)


def arguments(node: Node) -> dict[str, Any]:
    """Arguments by name with their defaults, dimensions counted from the front."""
    target: Any = node.target
    if target is operator.getitem:
        return {"of": node.args[0], "place": node.args[1]}
    found: dict[str, Any] = {}
    first = node.args[0] if node.args else None
    first = value(first[0] if isinstance(first, list | tuple) and first else first)  # of cat
    rank = first.dim() if isinstance(first, Tensor) else 0
    for place, argument in enumerate(target._schema.arguments):
        given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
        if place >= len(node.args) and argument.name not in node.kwargs:
            given = argument.default_value if argument.has_default_value() else None
        found[argument.name] = _forward(given, rank) if _is_dimension(argument) else given
    return _canonical(str(target._schema.name), found, first)


def _is_dimension(argument: Any) -> bool:
    return str(argument.name).startswith("dim") and "int" in str(argument.type)


def _forward(given: Any, rank: int) -> Any:
    """Dimensions counted from the front."""
    if isinstance(given, list | tuple):
        return [_forward(one, rank) for one in given]
    return given + rank if isinstance(given, int) and given < 0 else given


def _canonical(name: str, found: dict[str, Any], first: Any) -> dict[str, Any]:
    """Take out what two calls may differ in and compute the same."""
    if name == "aten::transpose":
        found["dim0"], found["dim1"] = sorted((found["dim0"], found["dim1"]))
    elif name in ("aten::softmax", "aten::mean") and isinstance(first, Tensor):
        found["dtype"] = None if found["dtype"] == first.dtype else found["dtype"]
    return found
