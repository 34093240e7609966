"""What a tree of calls comes to, once the run is over."""

from collections.abc import Mapping
from dataclasses import replace

import torch

from opcheck.model.trace import Kernel, Node, Trace, Use
from opcheck.trace.disguise import undisguised
from opcheck.trace.tree import Tree


def finished(
    tree: Tree,
    device_type: str,
    mode: str,
    kernels: Mapping[str, tuple[Kernel, ...]],
    notes: tuple[str, ...],
) -> Trace:
    """The trace for ``device_type``; ``mode`` is ``inference`` or ``train``."""
    gaps = sorted({*tree.gaps, *tree.modules.gaps})
    nodes, uses = _reachable(tree.nodes, tree.uses)
    if device_type != tree.device.type:
        nodes = tuple(undisguised(nodes, tree.device, device_type))
    return Trace(
        torch_version=torch.__version__.partition("+")[0],
        device_type=device_type,
        mode=mode,
        nodes=nodes,
        uses=uses,
        sequence=tuple(tree.sequence),
        gaps=tuple(gaps),
        modules_not_called=tree.modules.not_called(),
        kernels=dict(kernels),
        notes=notes,
    )


def _reachable(
    nodes: tuple[Node, ...], uses: tuple[Use, ...]
) -> tuple[tuple[Node, ...], tuple[Use, ...]]:
    """Drop nodes of calls that failed before they counted, and number the rest anew."""
    wanted: set[int] = set()
    todo = [use.node for use in uses]
    while todo:
        index = todo.pop()
        if index not in wanted:
            wanted.add(index)
            todo += [child for child, _ in nodes[index].children or ()]
    order = {old: new for new, old in enumerate(sorted(wanted))}
    return tuple(_renumbered(nodes[old], order) for old in order), tuple(
        Use(order[u.node], u.module, u.file, u.line, u.count, u.phase) for u in uses
    )


def _renumbered(node: Node, order: Mapping[int, int]) -> Node:
    if not node.children:
        return node
    children = tuple((order[child], count) for child, count in node.children)
    return replace(node, children=children)
