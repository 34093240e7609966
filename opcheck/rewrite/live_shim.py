"""A live module compared with one target: what it refuses, and a shim of what it lacks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label, NodePlan, Remedy, Suggestion
from opcheck.model.trace import Trace
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.shim import Shim, shim
from opcheck.trace import trace_model
from opcheck.trace.running.model_state import forget


class LiveShim(Struct, frozen=True):
    """What was found for one module on one target."""

    shim: Shim
    left: Mapping[str, str]
    """Overload that leaves the device still, or that the device refuses -> why, as a clause."""


def traced(
    module: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    matrix: SupportMatrix,
) -> Trace:
    """The calls of a module as the device of a target would get them; it is left as it is.

    Raises:
        TraceError: the module cannot be run on these inputs.
    """
    try:
        return trace_model(
            module, args, kwargs, device_type=matrix.target.device_type,
            casts=matrix.casts, autocast=matrix.autocast,
        )  # fmt: skip
    finally:
        forget()


def refused(trace: Trace, matrix: SupportMatrix) -> frozenset[str]:
    """Operators that the target is known not to run as the trace calls them."""
    walk = Walk(trace.nodes, matrix, trace.torch_version)
    return frozenset(
        str(trace.nodes[use.node].op)
        for use in trace.uses
        if walk.resolution(use.node).verdict is Verdict.UNSUPPORTED
    )


def shim_of(
    trace: Trace,
    matrix: SupportMatrix,
    remedies: Sequence[Remedy] = (),
    allow: Label = Label.EXACT,
) -> LiveShim:
    """Plan for one target, and write what ``opcheck fix --shim`` would.

    Args:
        trace: of the module.
        matrix: of the target.
        remedies: what the target's vendor ships against what it does not run.
        allow: how far values may be off; a change in numbers is nothing to make unasked.
    """
    recorder = Recorder(matrix.target.device_type, matrix.casts, autocast=matrix.autocast)
    try:
        plans = Planner(trace, recorder).plan(matrix, remedies)
    finally:
        forget()
    walk = Walk(trace.nodes, matrix, trace.torch_version)
    # what the device runs, with a catch, is no reason to change a program that was not asked for
    off = [plan for plan in plans if not walk.resolution(plan.node).verdict.on_device]
    ways, left = _chosen(off, allow)
    for plan in off:
        if not plan.suggestions:
            left[str(trace.nodes[plan.node].op)] = "nothing that the device runs was found for it"
    made = shim(matrix, ways)
    left |= {skip.suggestion.replaces: skip.reason for skip in made.skipped}
    return LiveShim(made, left)


def _chosen(plans: Iterable[NodePlan], allow: Label) -> tuple[list[Suggestion], dict[str, str]]:
    """The cheapest way that is close enough for every overload, and what is too far off."""
    ways: dict[str, Suggestion] = {}
    left: dict[str, str] = {}
    for plan in plans:
        for replaces in dict.fromkeys(way.replaces for way in plan.suggestions):
            found = [way for way in plan.suggestions if way.replaces == replaces]
            fit = [w for w in found if w.code and not w.by_hand and w.label.rank <= allow.rank]
            if fit:
                ways.setdefault(replaces, fit[0])
            else:
                left[replaces] = _too_far(found)
    return list(ways.values()), left


def _too_far(found: Sequence[Suggestion]) -> str:
    best = min(found, key=lambda way: way.label.rank)
    if not best.code or best.by_hand:
        return f"{best.rule} changes more than a kernel can"
    return f"{best.rule} is labelled {best.label.value}; allow='{best.label.value}' takes it"
