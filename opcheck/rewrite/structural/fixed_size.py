"""Ways for results of a size that depends on values: one that is chosen, and what is there."""

from functools import partial

from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.trace import Node
from opcheck.rewrite.structural.masks import mask_of
from opcheck.rewrite.structural.padded import PADDED
from opcheck.rewrite.structural.proof import Both, Prover
from opcheck.rewrite.text import standalone

RULE = "fixed-size"
_COSTS = (
    "A size has to be chosen: what does not fit into it is lost, and what is left of it is padding "
    "that the second result marks, which what comes after has to heed"
)


def of_fixed_size(node: Node, matrix: SupportMatrix, prover: Prover) -> Suggestion | str:
    """The same with a size that is chosen; why there is none, where there is none."""
    known = PADDED.get(str(node.op))
    given = [tensor for name, tensor in node.tensors() if known and name in known.arguments]
    if known is None or not given:
        return ""
    if str(node.op) == "aten::index.Tensor" and mask_of(node) is None:
        return "it is not indexed by one mask alone"
    if len(given) > 1 and given[0].shape[: len(given[1].shape)] != given[1].shape:
        return "its mask is broadcast"
    name = known.function.__name__
    way = Suggestion(
        rule=RULE,
        tier=Tier.STRUCTURAL,
        label=Label.APPROXIMATE,
        replaces=str(node.op),
        summary=f"Choose the largest size that there can be, and call {name}(..., size)",
        code=standalone(known.function),
        function=name,
        gives_up=_COSTS,
        by_hand=True,
    )
    size = max(1, known.most * given[-1].numel)
    names = ("x", "mask")[: len(given)]
    both = Both(
        known.original,
        partial(known.function, size=size),
        dict(zip(names, given, strict=True)),
        lambda pair: pair[0][pair[1]],
    )
    return prover.proven(way, both, (name, tuple(given)), matrix)
