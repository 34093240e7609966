"""Costs come from a process that runs the user's code: what does not fit the trace is refused."""

import pytest
from msgspec.structs import replace

from opcheck.model.codec import MalformedError, from_json, to_json
from opcheck.model.costs import Costs, NodeCost
from opcheck.model.trace import Trace
from opcheck.sandbox.parent.answers import require_sound
from tests.resolve.made import node, trace

GOOD = Costs(
    nodes=(NodeCost(None, 1, 2, 3),), live=(4,), weights=5, trained=0, buffers=0, inputs=6,
    gradients=((0, 5),), states=7, batch=None, grad_enabled=(0,), in_training=("drop (Dropout)",),
)  # fmt: skip


def costed(costs: Costs) -> Trace:
    return replace(trace(node("aten::mm")), costs=costs)


def test_costs_survive_the_way_between_processes() -> None:
    made = costed(GOOD)
    require_sound(made)
    assert from_json(Trace, to_json(made)) == made


@pytest.mark.parametrize(
    "costs",
    [
        replace(GOOD, nodes=()),
        replace(GOOD, live=()),
        replace(GOOD, live=(1, 2)),
        replace(GOOD, live=(-1,)),
        replace(GOOD, weights=-1),
        replace(GOOD, batch=-1),
        replace(GOOD, gradients=((0, -1),)),
        replace(GOOD, grad_enabled=(1,)),
        replace(GOOD, nodes=(NodeCost(-1, 0, 0, 0),)),
        replace(GOOD, nodes=(NodeCost(0, 0, 0, -1),)),
    ],
)
def test_costs_of_another_trace_or_below_none_are_refused(costs: Costs) -> None:
    with pytest.raises(MalformedError):
        require_sound(costed(costs))
