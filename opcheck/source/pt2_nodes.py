"""Nodes of an exported graph's JSON: all of them, and how each passes its inputs."""

from collections.abc import Iterator, Mapping
from typing import Any

from opcheck.source.pt2_values import variant

_KEYWORD = 2


def all_graphs(graph: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A graph and those inside it, each after the one that holds it."""
    yield graph
    for node in graph["nodes"]:
        for item in node["inputs"]:
            kind, payload = variant(item["arg"])
            if kind == "as_graph":
                yield from all_graphs(payload["graph"])


def all_nodes(graph: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node, those of subgraphs after all of the graph that holds them."""
    for one in all_graphs(graph):
        yield from one["nodes"]


def by_name(item: Mapping[str, Any]) -> bool:
    """Whether a node passes an input by its name; where an old schema does not say, it may."""
    return bool(item["name"]) and item.get("kind") in (None, _KEYWORD)
