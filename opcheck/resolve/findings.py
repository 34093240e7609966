"""Resolved calls gathered into what the report shows for one target; the best target first."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.predicates import value_text
from opcheck.model.report import (
    Finding,
    KernelCount,
    Partition,
    Place,
    Reason,
    Segment,
    Summary,
    TargetReport,
)
from opcheck.model.request import OPTIMIZER, WRAPPER
from opcheck.model.trace import Kernel, Node, OpName, Phase, TensorMeta, Trace, Use, Value
from opcheck.model.verdict import Evidence, Verdict
from opcheck.resolve import compiled, launches
from opcheck.resolve.collectives import NAMESPACE as COLLECTIVES
from opcheck.resolve.conditions import matches, sentence
from opcheck.resolve.explain import steps
from opcheck.resolve.kernels import torch_differs, traced_as_older
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk


class ResolvedCall(Struct, frozen=True):
    """A call where the model makes it, and what becomes of it."""

    use: Use
    node: Node
    resolution: Resolution
    taken_apart: bool = False
    """Whether it is a composite that autograd took apart, so that its parts are calls as well."""


def resolved_calls(trace: Trace, walk: Walk) -> Iterator[ResolvedCall]:
    """The calls in the order of the trace's uses, then the composites that autograd took apart.

    Of those only the ones are given of which the target asks something that they do not meet, or
    that are harmed in a way that none of their parts tells of.
    """
    told: set[tuple[str, str, str, int]] = set()
    composites: dict[tuple[str, str, int], set[str]] = {}
    for use in trace.taken_apart:
        composites.setdefault(_line(use), set()).add(str(trace.nodes[use.node].op))
    for use in trace.uses:
        around = composites.get(_line(use), ())
        inside = walk.inside_composite(trace.nodes[use.node], around) if around else None
        resolution = inside or walk.resolution(use.node)
        if trace.taken_apart and resolution.harmful:
            told.add((resolution.code, *_line(use)))
        yield ResolvedCall(use, trace.nodes[use.node], resolution)
    for use in trace.taken_apart:
        node = trace.nodes[use.node]
        found = walk.of_composite_itself(node)
        if found is not None and not (found.harmful and (found.code, *_line(use)) in told):
            yield ResolvedCall(use, node, found, taken_apart=True)


def _line(use: Use) -> tuple[str, str, int]:
    return use.module, use.file, use.line


class Walks:
    """A walk for each target, those over one trace knowing each other."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], list[Walk]] = {}

    def over(self, trace: Trace, matrix: SupportMatrix) -> Walk:
        """A walk over a trace, which must live as long as this."""
        others = self._made.setdefault((id(trace), matrix.target.vendor), [])
        walk = Walk(trace.nodes, matrix, trace.torch_version, tuple(others))
        others.append(walk)
        return walk


def resolve(
    trace: Trace, matrix: SupportMatrix, walks: Walks | None = None, *, explained: bool = False
) -> TargetReport:
    """Hold a trace against one target; ``explained``: say what was looked at for each finding.

    ``walks``: of the other targets that it is held against.
    """
    walk = (walks or Walks()).over(trace, matrix)
    calls = list(resolved_calls(trace, walk))
    kernels = trace.kernels.get(str(matrix.target))
    target = matrix.target
    partitions = _partitions(trace, calls)
    apart = _apart(trace, matrix)
    return TargetReport(
        target=str(target), vendor=target.vendor, chip=target.chip, sdk=target.sdk,
        torch=target.torch,
        database_digest=matrix.database_digest, database_date=matrix.database_date,
        summary=_summary(calls, _islands(trace, partitions), bool(trace.gaps), apart),
        findings=_sorted((*apart, *_findings(trace, calls, walk if explained else None))),
        kernels=None if kernels is None else _kernels(kernels, trace, walk, matrix),
        advisories=_advisories(trace, matrix),
        elsewhere=matrix.fallback.elsewhere,
        partitions=partitions,
        segments=_segments(trace, calls),
    )  # fmt: skip


def summary(trace: Trace, walk: Walk) -> Summary:
    """The figures of a trace on the target of ``walk``."""
    calls = list(resolved_calls(trace, walk))
    islands = _islands(trace, _partitions(trace, calls))
    return _summary(calls, islands, bool(trace.gaps), _apart(trace, walk.matrix))


def _apart(trace: Trace, matrix: SupportMatrix) -> tuple[Finding, ...]:
    """Findings on what reaches the device past the dispatcher: no operator stands for it."""
    return (
        *_not_captured(trace, matrix),
        *compiled.findings(trace, matrix),
        *launches.findings(trace, matrix),
    )


def _findings(trace: Trace, calls: list[ResolvedCall], walk: Walk | None) -> Iterator[Finding]:
    groups: dict[tuple[str, ...], list[ResolvedCall]] = defaultdict(list)
    for call in calls:
        resolution, phase = call.resolution, call.use.phase
        groups[
            (str(call.node.op), resolution.verdict, resolution.code, resolution.text, phase)
        ].append(call)
    return (_finding(trace, members, walk) for members in groups.values())


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (-f.verdict.rank, f.op, f.id)))


def _finding(trace: Trace, members: list[ResolvedCall], walk: Walk | None) -> Finding:
    first = members[0]
    op, phase, resolution = str(first.node.op), first.use.phase, first.resolution
    places = _places(trace, members)
    signatures = sorted({" ".join(place.inputs) for place in places})
    modules = sorted({place.module for place in places})
    evidence: dict[Evidence, None] = {}
    for member in members:
        evidence.update(dict.fromkeys(member.resolution.evidence))
    return Finding(
        id=identity(op, resolution.code, phase, *signatures, "|", *modules),
        op=op,
        verdict=resolution.verdict,
        confidence=max((m.resolution.confidence for m in members), key=lambda c: c.rank),
        reason=Reason(resolution.code, resolution.text),
        count=sum(m.use.count for m in members),
        phase=phase,
        uses=places,
        evidence=tuple(evidence),
        steps=() if walk is None else steps(walk, first.node, taken_apart=first.taken_apart),
    )


def identity(*parts: str) -> str:
    """12 hex digits that stay the same when lines move."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _places(trace: Trace, members: Iterable[ResolvedCall]) -> tuple[Place, ...]:
    counts: Counter[tuple[str, str, int, tuple[str, ...], tuple[str, ...]]] = Counter()
    for call in members:
        use = call.use
        inputs = tuple(argument_text(n, v) for n, v in call.node.arguments)
        module = use.module or outside(call.node.op, use.phase, use.file)
        key = (module, use.file, use.line, inputs, tuple(sorted(call.resolution.leaves)))
        counts[key] += use.count
    return tuple(
        Place(module, file, line, inputs, leaves, count)
        for (module, file, line, inputs, leaves), count in sorted(counts.items())
    )


def outside(op: OpName, phase: Phase, file: str) -> str:
    """What makes a call that no module and no line of the user's (``file``) makes."""
    if phase is Phase.OPTIMIZER:
        return OPTIMIZER
    sent = op.namespace.endswith(("c10d", "c10d_functional"))
    return WRAPPER if sent and not file else ""


def argument_text(name: str, value: Value) -> str:
    """One argument as reports show it: ``x: float32[1,3]`` for a tensor, ``dim=1`` for others."""
    if isinstance(value, TensorMeta):
        return f"{name}: {value}{' (host)' if value.host else ''}"
    return f"{name}={value_text(value)}"


def _not_captured(trace: Trace, matrix: SupportMatrix) -> tuple[Finding, ...]:
    """What keeps the whole model from an export."""
    if not (trace.unknown_classes and matrix.exports):
        return ()
    from opcheck.resolve import captured  # most models have none of it

    return captured.findings(trace, matrix)


def _summary(
    calls: list[ResolvedCall], islands: int, gaps: bool, apart: tuple[Finding, ...]
) -> Summary:
    worst: dict[str, Verdict] = {}
    counts: Counter[Verdict] = Counter()
    each = [(finding.op, finding.verdict, finding.count) for finding in apart]
    each += [(str(call.node.op), call.resolution.verdict, call.use.count) for call in calls]
    for op, verdict, count in each:
        worst[op] = max(worst.get(op, verdict), verdict, key=lambda v: v.rank)
        counts[verdict] += count
    operators = Counter(worst.values())
    good = sum(count for verdict, count in operators.items() if verdict.on_device)
    return Summary(
        support_rate=round(good / len(worst), 4) if worst else None,
        runs=_runs(counts, gaps),
        operators={verdict: operators[verdict] for verdict in Verdict},
        calls={verdict: counts[verdict] for verdict in Verdict},
        islands=islands,
        fallback_bytes=sum(
            call.resolution.fallback_bytes * call.use.count
            for call in calls
            if call.resolution.verdict is Verdict.FALLBACK
        ),
    )


def _runs(calls: Mapping[Verdict, int], gaps: bool) -> bool | None:
    if calls[Verdict.UNSUPPORTED]:
        return False
    if calls[Verdict.UNKNOWN] or gaps or not any(calls.values()):
        return None
    return True


def _partitions(trace: Trace, calls: list[ResolvedCall]) -> tuple[Partition, ...]:
    """The calls in their order, cut where they begin or cease to fall back."""
    leaves = [call.resolution.verdict is Verdict.FALLBACK for call in calls[: len(trace.uses)]]
    if not any(leaves):
        return ()
    runs = ((left, list(uses)) for left, uses in groupby(trace.sequence, leaves.__getitem__))
    return tuple(Partition(left, len(uses), trace.uses[uses[0]].module) for left, uses in runs)


def _segments(trace: Trace, calls: list[ResolvedCall]) -> tuple[Segment, ...]:
    """The calls in their order, cut where one breaks, is not known, or falls back."""
    verdicts = [call.resolution.verdict for call in calls[: len(trace.uses)]]
    if not {Verdict.UNSUPPORTED, Verdict.UNKNOWN}.intersection(verdicts):
        return ()
    off = [None if verdict.on_device else verdict for verdict in verdicts]
    runs = ((verdict, list(uses)) for verdict, uses in groupby(trace.sequence, off.__getitem__))
    return tuple(Segment(verdict, len(uses), trace.uses[uses[0]].module) for verdict, uses in runs)


def _islands(trace: Trace, partitions: tuple[Partition, ...]) -> int:
    """Maximal runs of calls between fallbacks."""
    if not partitions:
        return 1 if trace.sequence else 0
    return sum(not partition.fallback for partition in partitions)


def _kernels(
    kernels: Iterable[Kernel], trace: Trace, walk: Walk, matrix: SupportMatrix
) -> tuple[KernelCount, ...]:
    worst: dict[str, Verdict] = {}
    for index, node in enumerate(trace.nodes):
        op = str(node.op)
        if op in matrix.entries or node.op.namespace == COLLECTIVES:
            verdict = walk.resolution(index).verdict
            worst[op] = max(worst.get(op, verdict), verdict, key=lambda v: v.rank)
    return tuple(
        KernelCount(str(k.op), _kernel_verdict(k, worst, matrix), k.count, k.phase)
        for k in sorted(kernels, key=lambda k: (k.op, k.phase))
    )


def _kernel_verdict(kernel: Kernel, worst: Mapping[str, Verdict], matrix: SupportMatrix) -> Verdict:
    op = str(kernel.op)
    if not kernel.missing or kernel.op.namespace == COLLECTIVES:
        return worst.get(op, Verdict.NATIVE)
    on_cpu = matrix.fallback.to_cpu and matrix.extensions.get(op, kernel.cpu_kernel)
    return Verdict.FALLBACK if matrix.fallback.elsewhere or on_cpu else Verdict.UNSUPPORTED


_STAND_IN = (
    "traced on a stand-in for the device: where PyTorch looks at its type (in convolution, batch "
    "norm, attention, recurrent layers) its sources tell which way it goes there, and what rests "
    "on that is inferred"
)

_STAND_IN_TRAINING = Sentence(
    "{said}; {said_more}",
    said=_STAND_IN,
    said_more="in training, attention, batch norm and recurrent layers are recorded in the "
    "plain steps of forward and backward, where a device with fused kernels may take those",
)


def of_target(matrix: SupportMatrix, torch_version: str, done: str) -> list[Reason]:
    """What is said of a target whatever is ``traced`` or ``run`` on it (``done``)."""
    told = [Reason(a.code, sentence(a, (), matrix.target.chip)) for a in matrix.advisories]
    differs = torch_differs(torch_version, matrix, done)
    return [*told, Reason("torch-differs", differs)] if differs else told


def _advisories(trace: Trace, matrix: SupportMatrix) -> tuple[Reason, ...]:
    told = of_target(matrix, trace.torch_version, "traced")
    if trace.older is not None:
        told.append(Reason("traced-as-older-torch", traced_as_older(trace.older, matrix)))
    told += _called_for(trace, matrix)
    told += _assumed(trace, matrix)
    if matrix.choices:
        training = trace.mode == "train" or bool(trace.taken_apart)
        told.append(Reason("stand-in", _STAND_IN_TRAINING if training else _STAND_IN))
    return tuple(told)


def _called_for(trace: Trace, matrix: SupportMatrix) -> Iterator[Reason]:
    """What is said once of a target where the model makes a call that asks for it."""
    for caution in matrix.cautions:
        said = caution.condition
        for node in trace.nodes:
            found = matches(said, node) if str(node.op) in caution.ops else None
            if found is not None:
                yield Reason(said.code, sentence(said, found, matrix.target.chip))
                break


def _assumed(trace: Trace, matrix: SupportMatrix) -> Iterator[Reason]:
    """Which releases of libraries were assumed, of those whose operators the model calls."""
    called = {node.op.namespace for node in trace.nodes} & matrix.libraries.keys()
    for package, version in sorted(matrix.libraries[namespace] for namespace in called):
        text = Sentence(
            "{library} {version} is assumed, the newest when torch {torch} came out; another one "
            "is named as {text_target}",
            library=package, version=version, torch=matrix.target.torch,
            text_target=f"{matrix.target.name}@{matrix.target.sdk}+{package}X.Y",
        )  # fmt: skip
        yield Reason("library-release-assumed", text)


_OUTCOMES = (True, None, False)
"""What ``Summary.runs`` may be, best first."""


def best_first(targets: Iterable[TargetReport]) -> tuple[TargetReport, ...]:
    """Those that run the model before the others, then by share, host calls, bytes and islands.

    Of equals, by name.
    """
    return tuple(sorted(targets, key=_rank))


def _rank(target: TargetReport) -> tuple[int, float, int, int, int, list[str]]:
    summary = target.summary
    return (
        _OUTCOMES.index(summary.runs),
        -(summary.support_rate or 0.0),
        summary.calls.get(Verdict.FALLBACK, 0),
        summary.fallback_bytes,
        summary.islands,
        target.target.split("@"),  # a10 before a100
    )
