"""What a tree of calls comes to, once the run is over."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from msgspec.structs import replace

from opcheck.model.trace import Kernel, Node, Trace, Use
from opcheck.trace.costs.booked import BookedTree
from opcheck.trace.costs.costing import costs_of
from opcheck.trace.disguise import undisguised
from opcheck.trace.tree import Tree


def finished(
    tree: Tree,
    device_type: str,
    mode: str,
    kernels: Mapping[str, tuple[Kernel, ...]],
    notes: tuple[str, ...],
    inputs: Any = None,
) -> Trace:
    """The trace for ``device_type``; ``mode`` is ``inference`` or ``train``.

    A tree with an account gives the costs, too; for them it needs the ``inputs`` of the run.
    """
    gaps = sorted({*tree.gaps, *tree.modules.gaps})
    drawn = tree.nodes  # made anew each time it is asked for
    order = _reachable(drawn, tree.uses)
    nodes = tuple(_renumbered(drawn[old], order) for old in order)
    uses = tuple(replace(use, node=order[use.node]) for use in tree.uses)
    apart = tree.apart
    taken = tuple(replace(use, node=len(nodes) + at) for at, (_, use) in enumerate(apart))
    nodes += tuple(node for node, _ in apart)
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
        differentiated=tuple(
            (order[old], tuple(sorted(names)))
            for old, names in sorted(tree.differentiated.items())
            if old in order
        ),
        taken_apart=taken,
        costs=costs_of(tree, nodes, order, inputs) if isinstance(tree, BookedTree) else None,
    )


def _reachable(nodes: Sequence[Node], uses: Sequence[Use]) -> Mapping[int, int]:
    """Old number -> new one, without the nodes of calls that failed before they counted."""
    wanted: set[int] = set()
    todo = [use.node for use in uses]
    while todo:
        index = todo.pop()
        if index not in wanted:
            wanted.add(index)
            todo += [child for child, _ in nodes[index].children or ()]
    return {old: new for new, old in enumerate(sorted(wanted))}


def _renumbered(node: Node, order: Mapping[int, int]) -> Node:
    if not node.children:
        return node
    children = tuple((order[child], count) for child, count in node.children)
    return replace(node, children=children)
