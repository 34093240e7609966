"""Which operators the time and the bytes go to."""

from collections.abc import Sequence

from opcheck.commands.tune.base import Ground, places
from opcheck.commands.tune.values import OperatorCost
from opcheck.costs.roofline import Leaf, summed


def operator_costs(ground: Ground) -> tuple[OperatorCost, ...]:
    """All calls by overload, the dearest first; where nothing bounds them, by what they compute."""
    by_op: dict[str, list[Leaf]] = {}
    for leaf in ground.leaves:
        by_op.setdefault(leaf.op, []).append(leaf)
    found = [_cost(ground, op, leaves) for op, leaves in by_op.items()]
    return tuple(sorted(found, key=_order))


def _cost(ground: Ground, op: str, leaves: Sequence[Leaf]) -> OperatorCost:
    counted = [leaf.count * leaf.cost.flops for leaf in leaves if leaf.cost.flops is not None]
    bound = summed(map(ground.roof.bound, leaves))
    known = bound.seconds is not None and ground.bound.seconds
    return OperatorCost(
        op=op,
        calls=sum(leaf.count for leaf in leaves),
        flops=sum(counted) if len(counted) == len(leaves) else None,
        moved=sum(leaf.count * leaf.cost.moved for leaf in leaves),
        bound=bound,
        share=ground.share(bound.seconds) if known and bound.seconds is not None else None,
        module=places(ground, leaves)[0],
    )


def _order(cost: OperatorCost) -> tuple[float, int, int, str]:
    return -(cost.bound.seconds or 0.0), -(cost.flops or 0), -cost.moved, cost.op
