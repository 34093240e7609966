"""The cheapest fix that works, for each call that a target does not run itself."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import torch
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.matrix import NO_DTYPE, SupportMatrix
from opcheck.model.plan import Declined, Label, Measured, NodePlan, Remedy, Suggestion
from opcheck.model.trace import Node, OpName, Trace
from opcheck.resolve.findings import Walks
from opcheck.resolve.resolution import HOST_TENSOR, Resolution
from opcheck.resolve.walk import Walk
from opcheck.rewrite.base import Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate, candidates, in_half
from opcheck.rewrite.custom.suggest import suggested
from opcheck.rewrite.library_options import options
from opcheck.rewrite.measure import (
    LARGEST,
    NoGradientError,
    Originals,
    UnmeasuredError,
    inputs,
    label,
    measured,
)
from opcheck.rewrite.optimizers import unfused
from opcheck.rewrite.parts.calls import Region
from opcheck.rewrite.record import Lacking, Recorder, held, lacks
from opcheck.rewrite.remedies import along_with, culprits, remedied
from opcheck.rewrite.same_overload import first, from_the_start, laid_out, on_the_device
from opcheck.trace.torch_internals.dispatcher import overload_named


class Planner:
    """Plans for one trace, target after target; what was recorded and measured serves them all."""

    def __init__(
        self,
        trace: Trace,
        recorder: Recorder,
        extra: Iterable[Rule] = (),
        tried: dict[tuple[str, object], Suggestion | str] | None = None,
        largest: int = LARGEST,
    ) -> None:
        """``tried``: what planners of other traces have measured, to which this one adds.

        ``largest``: elements of one call beyond which it is not measured.
        """
        self._largest = largest
        self._trace = trace
        self._walks = Walks()
        self._recorder = recorder
        self._extra = tuple(extra)
        self._tried = {} if tried is None else tried
        self._originals = Originals()
        self._remedies: tuple[Remedy, ...] = ()
        self._lacking: dict[tuple[str, OpName, bool], Lacking] = {}
        """What kept a candidate from standing for another call of the overload on this target."""
        self._found: dict[tuple[str, frozenset[str]], tuple[Candidate, ...]] = {}
        self._files: dict[int, list[str]] = defaultdict(list)
        for use in trace.uses:
            self._files[use.node].append(use.file)
        self._needs = {
            (trace.nodes[index].op, trace.nodes[index].arguments): frozenset(names)
            for index, names in trace.differentiated
        }

    def plan(self, matrix: SupportMatrix, remedies: Sequence[Remedy] = ()) -> tuple[NodePlan, ...]:
        """Plan every distinct call that leaves the device or breaks on one target.

        Args:
            matrix: what the target supports.
            remedies: what its vendor ships against what it does not.
        """
        self._remedies = tuple(remedies)
        self._lacking = {}
        walk = self._walks.over(self._trace, matrix)
        used = dict.fromkeys(use.node for use in self._trace.uses)
        bad = [index for index in used if walk.resolution(index).wants_change]
        plans = [self._node(index, walk, matrix, remedies) for index in bad]
        region = Region(
            self._trace.nodes, tuple(used), walk,
            lambda candidate, node: self._way(candidate, node, matrix),
            lambda node: self._ways(node, matrix),
        )  # fmt: skip
        return region.planned(plans)

    def _node(
        self, index: int, walk: Walk, matrix: SupportMatrix, remedies: Sequence[Remedy]
    ) -> NodePlan:
        """Replace the call itself, or else each overload inside it that is to blame."""
        nodes = self._trace.nodes
        blamed = culprits(nodes, index, walk)
        resolutions = [(nodes[inner], walk.resolution(inner)) for inner in blamed]
        shipped = tuple(remedied(nodes[index], resolutions, remedies))
        found, declined = self._ways(nodes[index], matrix, walk.resolution(index), shipped)
        advice = tuple(options(nodes[index], self._files.get(index, ()), matrix))
        whole = (*found, *shipped)
        if found or (whole and all(way.on_device for way in whole)):
            return NodePlan(index, (*advice, *whole), declined)
        stuck: list[str] = []
        suggestions = [*advice, *whole]
        for node, resolution in resolutions:
            whole_again = node is nodes[index]
            vendors = () if whole else tuple(remedied(node, [(node, resolution)], remedies))
            ways = ((), ()) if whole_again else self._ways(node, matrix, resolution, vendors)
            inner, others = ways
            suggestions += (*inner, *vendors)
            declined = (*declined, *others)
            if not resolution.verdict.on_device and not any(
                w.on_device for w in (*inner, *vendors)
            ):
                stuck.append(str(node.op))
                match suggested(node, matrix):
                    case Suggestion() as own:
                        suggestions.append(own)
                    case Declined() as why:
                        declined = (*declined, why)
        return NodePlan(
            index, tuple(suggestions), tuple(dict.fromkeys(declined)), tuple(dict.fromkeys(stuck))
        )

    def _ways(
        self,
        node: Node,
        matrix: SupportMatrix,
        resolution: Resolution | None = None,
        shipped: Sequence[Suggestion] = (),
    ) -> tuple[tuple[Suggestion, ...], tuple[Declined, ...]]:
        """Ways for one call; such as need what the vendor ships only where nothing else is left."""
        found, declined = self._tried_ways(node, matrix, resolution, ())
        if found or not self._remedies or any(way.on_device for way in shipped):
            return found, declined
        return self._tried_ways(node, matrix, resolution, self._remedies)

    def _tried_ways(
        self,
        node: Node,
        matrix: SupportMatrix,
        resolution: Resolution | None,
        remedies: Sequence[Remedy],
    ) -> tuple[tuple[Suggestion, ...], tuple[Declined, ...]]:
        """The cheapest first; nothing comes after an exact one."""
        found: list[Suggestion] = []
        declined: list[Declined] = []
        harmful = resolution is not None and resolution.harmful
        for candidate in self._candidates(node, resolution):
            if found and not candidate.code:
                break  # nothing here can write it
            way = self._way(candidate, node, matrix, remedies, spotless=harmful)
            if isinstance(way, str):
                declined.append(Declined(candidate.rule, candidate.tier, way))
                continue
            found.append(replace(way, declined=tuple(declined)))
            if way.label is Label.EXACT:
                break
        found.sort(key=lambda way: (way.tier, way.label.rank))
        return tuple(found), tuple(declined)

    def _candidates(self, node: Node, resolution: Resolution | None) -> Iterator[Candidate]:
        op = str(node.op)
        if resolution is not None and resolution.code == HOST_TENSOR:
            moved = on_the_device(node)
            yield moved
            for other in self._standing_for(op, frozenset(t.dtype for _, t in node.tensors())):
                yield replace(other, summary=first(moved.summary, other.summary))
            return  # the call in another dtype would meet the same tensor
        yield from unfused(op)
        taken = [tensor for _, tensor in node.tensors()]
        if (
            resolution is not None
            and resolution.harmful
            and any(tensor.layout != "contiguous" for tensor in taken)
        ):
            yield laid_out(op)
        yield from self._standing_for(op, frozenset(tensor.dtype for tensor in taken))
        half = in_half(op) if resolution is not None and resolution.code == NO_DTYPE else None
        if half is not None and any(tensor.dtype == "float32" for tensor in taken):
            yield half
        narrower = from_the_start(op, {t.dtype for t in (*taken, *node.output_tensors())})
        if narrower is not None:
            yield narrower

    def _standing_for(self, op: str, dtypes: frozenset[str]) -> tuple[Candidate, ...]:
        """The candidates for an overload, whose texts take a while to put together."""
        if (op, dtypes) not in self._found:
            self._found[op, dtypes] = candidates(op, self._extra, dtypes)
        return self._found[op, dtypes]

    def _way(
        self,
        candidate: Candidate,
        node: Node,
        matrix: SupportMatrix,
        remedies: Sequence[Remedy] = (),
        *,
        spotless: bool = False,
    ) -> Suggestion | str:
        try:
            call = self._recorder.call(node)
        except ValueError as error:
            return Sentence("the call cannot be made again: {said}", said=sentence_of(error))
        try:
            return self._tried_out(candidate, node, call, matrix, remedies, spotless=spotless)
        except Exception as error:  # in the rule's own code, which may be anyone's
            return Sentence(
                "the rule itself fails: {error}: {text}", error=type(error).__name__, text=error
            )

    def _tried_out(
        self,
        candidate: Candidate,
        node: Node,
        call: Call,
        matrix: SupportMatrix,
        remedies: Sequence[Remedy],
        *,
        spotless: bool,
    ) -> Suggestion | str:
        refused = candidate.refuses(call)
        if refused:
            return refused
        function = candidate.recorded or candidate.function
        key = candidate.rule, node.op, spotless
        before = self._lacking.get(key)
        met = before and self._recorder.met(function, candidate.given(call), before.node)
        if before and met:
            torch_version = self._trace.torch_version
            why = lacks(met, before, matrix, torch_version, remedies, spotless=spotless)
            if why:
                return why.text
        # what a composite calls inside has no gradient of its own
        needs = self._needs.get((node.op, node.arguments), frozenset())
        trace = self._recorder.trace(candidate.rule, function, node, candidate.given, needs)
        if isinstance(trace, str):
            return trace
        runs = held(trace, matrix, remedies, spotless=spotless)
        if isinstance(runs, Lacking):
            self._lacking[key] = runs
            return runs.text
        way = self._as_measured(candidate, node)
        if isinstance(way, str):
            return way
        way = replace(
            way, runs_as=runs.overloads, backward_as=runs.backward, calls=runs.calls,
            memory=runs.memory,
        )  # fmt: skip
        return along_with(way, runs.options)

    def _as_measured(self, candidate: Candidate, node: Node) -> Suggestion | str:
        """The suggestion with its figures, whatever the target."""
        key = (candidate.rule, (node.op, node.arguments))
        if key not in self._tried:
            self._tried[key] = _measured(candidate, node, self._largest, self._originals)
        return self._tried[key]


def _measured(
    candidate: Candidate, node: Node, largest: int, originals: Originals
) -> Suggestion | str:
    way = Suggestion(
        rule=candidate.rule,
        tier=candidate.tier,
        label=candidate.label,
        replaces=str(node.op),
        summary=candidate.summary,
        code=candidate.code,
        function=candidate.entry,
        gives_up=candidate.gives_up,
        whole=candidate.whole,
        evidence=candidate.evidence,
    )
    if candidate.random:
        return replace(way, unmeasured=_RANDOM)
    func = overload_named(str(node.op))
    try:
        found = measured(
            node, func, candidate.function, candidate.canonical, candidate.valid, candidate.unique,
            largest=largest, originals=originals,
        )  # fmt: skip
    except NoGradientError as error:
        way = replace(way, unmeasured=sentence_of(error))
        found = Measured(inputs(node), error.forward, None)
    except UnmeasuredError as error:
        best = max(candidate.label, candidate.unmeasured, key=lambda label: label.rank)
        return replace(
            way, label=best, unmeasured=sentence_of(error), tolerance=_stated(best, candidate)
        )
    far = max(found.forward.relative, found.backward.relative if found.backward else 0.0)
    if candidate.label is not Label.APPROXIMATE and far > _TOO_FAR:
        return Sentence("its values are off by {figure} of the largest", figure=f"{far:.1e}")
    best = Label.TOLERANCE if way.unmeasured and candidate.label is Label.EXACT else candidate.label
    close = label(best, found)
    tolerance = _stated(close, candidate, far / _eps(node))
    return replace(way, label=close, measured=found, tolerance=tolerance)


def _stated(label: Label, candidate: Candidate, found: float = 0.0) -> float:
    """How far values may be off, in ``eps`` of the largest: what was found, or more."""
    return max(candidate.tolerance, found, 1.0) if label is Label.TOLERANCE else 0.0


def _eps(node: Node) -> float:
    """The coarsest ``eps`` among floating-point arguments."""
    dtypes = [getattr(torch, tensor.dtype) for _, tensor in node.tensors()]
    known = [dtype for dtype in dtypes if dtype.is_floating_point or dtype.is_complex]
    return max((torch.finfo(dtype).eps for dtype in known), default=torch.finfo(torch.float32).eps)


_RANDOM = "it draws random numbers: its distribution is compared with the operator's, no value is"
_TOO_FAR = 1e-2
"""Relative difference beyond which two codes do not compute the same."""
