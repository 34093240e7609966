"""What was looked at for one call, in the order in which the dispatcher would."""

from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Node
from opcheck.resolve import fate as codes
from opcheck.resolve.walk import Walk

DEEPEST = 3
"""How far the worst of what a call runs as is followed."""
_PLAINLY = frozenset({codes.REGISTERED, codes.COLLECTIVE, codes.NO_DEVICE_WORK})
"""Codes of calls that run as themselves, or as nothing: there is no more to follow."""


def steps(walk: Walk, node: Node, *, taken_apart: bool = False) -> tuple[str, ...]:
    """One short line for each question: kernel, branch, composite, host fallback, conditions.

    ``taken_apart`` says that autograd took the call apart before the device was reached.
    """
    if taken_apart:
        return "autograd: takes it apart before the device is reached", _conditions(walk, node)
    return tuple(_steps(walk, node, DEEPEST))


def _steps(walk: Walk, node: Node, depth: int) -> Iterator[str]:
    for step in walk.steps(node):
        yield step.line
        parts = [part for part in step.parts if part[0] is not node]
        worst, fate, _ = max(parts, key=lambda part: part[1].severity, default=(node, None, 0))
        if depth and fate is not None and fate.code not in _PLAINLY:
            below = _steps(walk, worst, depth - 1)
            yield from (Sentence("{op} > {said}", op=str(worst.op), said=line) for line in below)
    if step.fate is None or step.fate.code != codes.HOST_TENSOR:
        yield _conditions(walk, node)


def _conditions(walk: Walk, node: Node) -> str:
    """How many conditions are known for the operator, and which of them hold for the call."""
    known = len(walk.matrix.conditions_for(str(node.op)))
    if not known:
        return "conditions: none is known for it"
    holding = [condition.code for condition, _ in walk.matched(node, walk.plain(node))]
    if not holding:
        return Sentence("conditions: none of {count} holds for this call", count=known)
    codes_met = ", ".join(sorted(holding))
    return Sentence(
        "conditions: of {count} known, this call meets {list}", count=known, list=codes_met
    )
