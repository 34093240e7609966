"""Where a tensor that is written to is also seen in a way that its parts cannot be."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

_NEW_ON_PARTS = frozenset(
    {"aten::view_as_real", "aten::_conj", "aten::conj", "aten::resolve_conj", "aten::resolve_neg",
     "aten::_neg_view"}
)  # fmt: skip
"""Give, or may give, the same memory seen otherwise; on parts they do not, or the other way round.
"""


def seen_apart(nodes: Sequence[Node]) -> str:
    """Why a program's tensors would part on parts: "" where no such tensor is written to."""
    calls = [node for node in nodes if isinstance(node.target, torch._ops.OpOverload)]
    apart = {_owner(node): node for node in calls if _name(node) in _NEW_ON_PARTS}
    for node in calls:
        for place in _written(node):
            seen = apart.get(_owner(place))
            if seen is not None:
                return f"{_name(node)} writes to a tensor that is also seen through {_name(seen)}"
    return ""


def _name(node: Node) -> str:
    func: Any = node.target
    return str(func.name())


def _written(node: Node) -> list[Node]:
    func: Any = node.target
    if torch.Tag.inplace_view in func.tags:
        return []
    arguments = func._schema.arguments
    given = {a.name: value for a, value in zip(arguments, node.args, strict=False)}
    given.update(node.kwargs)
    names = [a.name for a in arguments if a.alias_info and a.alias_info.is_write]
    return [value for name in names if isinstance(value := given.get(name), Node)]


def _owner(node: Node) -> Node:
    """The tensor whose memory a node may share, as far back as that goes."""
    while isinstance(node.target, torch._ops.OpOverload):
        shared = [a.name for a in node.target._schema.arguments if a.alias_info]
        first = node.args[0] if node.args else None
        if not shared or not isinstance(first, Node):
            break
        node = first
    return node
