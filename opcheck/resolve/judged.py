"""Every call of a trace with its fate on one target, those that autograd takes apart included."""

from collections.abc import Iterator

from msgspec import Struct

from opcheck.model.trace import Node, Trace, Use
from opcheck.resolve.fate import Fate
from opcheck.resolve.walk import Walk


class Judged(Struct, frozen=True):
    """A call where the model makes it, and what becomes of it."""

    use: Use
    node: Node
    fate: Fate
    taken_apart: bool = False
    """Whether it is a composite that autograd took apart, so that its parts are calls as well."""


def judged(trace: Trace, walk: Walk) -> Iterator[Judged]:
    """The calls in the order of the trace's uses, then the composites that autograd took apart.

    Of those only the ones are given of which the target asks something that they do not meet.
    """
    for use in trace.uses:
        yield Judged(use, trace.nodes[use.node], walk.fate(use.node))
    for use in trace.taken_apart:
        node = trace.nodes[use.node]
        fate = walk.asked_of_it(node)
        if fate is not None:
            yield Judged(use, node, fate, taken_apart=True)
