"""Nodes of an exported graph's JSON: finding all of them, and the operator that each names."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcheck.model.names import OpName
from opcheck.source.pt2_values import variant

_KEYWORD = 2
HIGHER_ORDER = "higher_order"
_OPERATORS = "torch.ops."
_HIGHER_ORDER_IN_2_4 = "torch._higher_order_ops."
"""torch 2.4 names a higher-order operator by the module that defines it."""


def operator_name(target: str) -> OpName | None:
    """``torch.ops.aten.add.Tensor`` in schema spelling; None for what is no operator."""
    if target.startswith(_HIGHER_ORDER_IN_2_4):
        return OpName(HIGHER_ORDER, target.rpartition(".")[2])
    if not target.startswith(_OPERATORS):
        return None
    match target.removeprefix(_OPERATORS).split("."):
        case [namespace, base] | [namespace, base, "default"]:
            return OpName(namespace, base)
        case [namespace, base, overload]:
            return OpName(namespace, base, overload)
        case _:
            return None


def all_nodes(graph: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node, those of subgraphs after the node that holds them."""
    for node in graph["nodes"]:
        yield node
        for item in node["inputs"]:
            kind, payload = variant(item["arg"])
            if kind == "as_graph":
                yield from all_nodes(payload["graph"])


def by_name(item: Mapping[str, Any]) -> bool:
    """Whether a node passes an input by its name; where an old schema does not say, it may."""
    return bool(item["name"]) and item.get("kind") in (None, _KEYWORD)
