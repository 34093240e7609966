"""Calls as they would be in another dtype."""

from msgspec.structs import replace

from opcheck.commands.tune.base import Ground
from opcheck.costs.roofline import Leaf
from opcheck.model.trace import DTYPE_BYTES, Constant, Node, Phase, TensorMeta, Value
from opcheck.model.verdict import Verdict

FULL = "float32"
OFF = frozenset({Verdict.FALLBACK, Verdict.UNSUPPORTED})
"""Verdicts on what is known not to run on the device."""
HALVES = ("bfloat16", "float16")
"""Dtypes of 16 bits, the one with the range of float32 first."""


def recast(leaf: Leaf, before: str, after: str) -> Leaf:
    """The leaf in ``after`` where it computes in ``before``: its bytes shrink or grow with that."""
    if leaf.dtype != before:
        return leaf
    ratio = DTYPE_BYTES[after] / DTYPE_BYTES[before]
    cost = leaf.cost
    sizes = (round(size * ratio) for size in (cost.read, cost.written, cost.weights, cost.inside))
    read, written, weights, inside = sizes
    cost = replace(cost, read=read, written=written, weights=weights, inside=inside)
    return replace(leaf, dtype=after, cost=cost)


def fares(ground: Ground, leaf: Leaf, before: str, after: str) -> Verdict:
    """How the leaf's call would fare in ``after``."""
    return ground.running.verdict_of(_node_in(ground.node(leaf), before, after))


def refused(ground: Ground, before: str, after: str) -> tuple[str, ...]:
    """Overloads that run on the device in ``before`` and would not in ``after``; sorted."""
    found = {
        leaf.op
        for leaf in ground.leaves
        if leaf.dtype == before
        and leaf.verdict.on_device
        and fares(ground, leaf, before, after) in OFF
    }
    return tuple(sorted(found))


def halved(ground: Ground) -> tuple[str, tuple[Leaf, ...]]:
    """The type of 16 bits in which the chip is fastest of those that it takes, and the run in it.

    "" and the run as it is where the chip takes none, or no rate in one is known. Under autocast an
    optimizer stays in float32.
    """
    rates = ground.roof.peaks
    takes = [half for half in HALVES if half in rates and not refused(ground, FULL, half)]
    if not takes:
        return "", ground.leaves
    best = max(takes, key=lambda half: rates[half])  # of equals the first, of larger range
    return best, tuple(
        leaf if leaf.phase is Phase.OPTIMIZER else recast(leaf, FULL, best)
        for leaf in ground.leaves
    )


def _node_in(node: Node, before: str, after: str) -> Node:
    """The same call on tensors of another dtype; it is not taken apart."""
    arguments = tuple((name, _in(value, before, after)) for name, value in node.arguments)
    outputs = tuple(_in(value, before, after) for value in node.outputs)
    return replace(node, arguments=arguments, outputs=outputs)


def _in(value: Value, before: str, after: str) -> Value:
    match value:
        case TensorMeta() if value.dtype == before:
            return replace(value, dtype=after)
        case Constant("dtype", text) if text == before:
            return replace(value, value=after)
        case tuple():
            return tuple(_in(item, before, after) for item in value)
        case _:
            return value
