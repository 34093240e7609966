"""What the calls of a finished run cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from opcheck.model.costs import Costs, NodeCost
from opcheck.model.trace import Node
from opcheck.trace.costs import formulas
from opcheck.trace.costs.booked import BookedTree
from opcheck.trace.costs.traffic import Traffic, traffic


def costs_of(
    tree: BookedTree, nodes: Sequence[Node], order: Mapping[int, int], inputs: Any
) -> Costs:
    """The costs of ``nodes``, renumbered by ``order`` from the tree's; ``inputs`` as given."""
    account = tree.account
    account.note(len(tree.sequence))
    named, given = inputs
    return Costs(
        nodes=tuple(_node_costs(tree, nodes, order)),
        live=tuple(account.after),
        weights=account.weights,
        trained=account.trained,
        buffers=account.buffers,
        inputs=sum(_nbytes(value) for value in tree_leaves(inputs)),
        gradients=account.gradients,
        states=account.states,
        batch=_batch([*named, *given.values()]),
        grad_enabled=tuple(sorted(tree.grad_enabled)),
    )


def _node_costs(
    tree: BookedTree, nodes: Sequence[Node], order: Mapping[int, int]
) -> Iterator[NodeCost]:
    flops: dict[int, int | None] = {}
    for old, new in sorted(order.items(), key=lambda pair: pair[1]):
        node = nodes[new]
        idle = tree.is_view(old) or old in tree.passes_on
        moved = Traffic() if idle else traffic(node)
        operations = _flops(new, nodes, flops)
        yield NodeCost(
            flops=operations,
            elements=0 if operations else moved.elements,
            read=moved.read,
            written=moved.written,
            weights=min(tree.weights.get(old, 0), moved.read),
            inside=tree.inside_of.get(old, 0),
        )


def _flops(index: int, nodes: Sequence[Node], known: dict[int, int | None]) -> int | None:
    """Operations of a call by its formula, else of all that it runs as."""
    if index not in known:
        node = nodes[index]
        found = formulas.by_formula(node)
        if found is None and node.children:
            parts = [(_flops(child, nodes, known), count) for child, count in node.children]
            sure = [part * count for part, count in parts if part is not None]
            found = sum(sure) if len(sure) == len(parts) else None
        elif found is None and node.children is not None and formulas.has_none(node):
            found = 0
        known[index] = found
    return known[index]


def _nbytes(value: Any) -> int:
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0


def _batch(values: Sequence[Any]) -> int | None:
    """The first size that all tensors share, of which none is in a list or has but one size."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    held = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    sizes = {tensor.shape[0] if tensor.dim() > 1 else None for tensor in tensors}
    return sizes.pop() if len(sizes) == 1 and len(held) == len(tensors) else None
