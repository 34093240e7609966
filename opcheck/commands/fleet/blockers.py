"""What keeps a model's calls off a target, each thing by itself: what has to be there instead.

A finding tells the worst of a call. To run it, everything that is bad about it has to go: each
kernel that is missing inside of it, and each condition that it breaks.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import Struct

from opcheck.commands.fleet.values import Blocker, Cause
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Condition
from opcheck.model.predicates import Match
from opcheck.model.trace import Node, Trace, Use
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.conditions import matches, sentence
from opcheck.resolve.findings import resolved_calls
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk

_KERNELS = frozenset((
    codes.HOST_FALLBACK, codes.RUNS_ELSEWHERE, codes.NO_KERNEL, codes.NO_KERNEL_ANYWHERE,
    codes.NO_CONVERTER, codes.NO_COLLECTIVE,
))  # fmt: skip
"""Codes of what a kernel of the target's own would mend."""
VARIES = "…"
"""Stands for a number in a sentence that is to be the same for every model."""


class _Met(Struct, frozen=True):
    """One thing that is in the way, wherever it is met."""

    op: str
    cause: Cause
    code: str
    verdict: Verdict
    text: str
    confidence: Confidence


@dataclass(slots=True)
class _Tally:
    """Where it was met."""

    calls: int = 0
    called: set[str] = field(default_factory=set)
    first: Use | None = None


def blockers(trace: Trace, walk: Walk) -> tuple[Blocker, ...]:
    """Everything that keeps calls of a trace off a target, the worst first."""
    search = _Search(walk)
    tallies: dict[_Met, _Tally] = defaultdict(_Tally)
    for call in resolved_calls(trace, walk):
        if call.resolution.verdict.on_device:
            continue
        for met in search.of(call.node):
            tally = tallies[met]
            tally.calls += call.use.count
            tally.called.add(met.op if call.taken_apart else str(call.node.op))
            tally.first = tally.first or call.use
    found = (_blocker(met, tally) for met, tally in tallies.items())
    return tuple(sorted(found, key=lambda b: (-b.verdict.rank, b.op, b.code, b.text)))


def _blocker(met: _Met, tally: _Tally) -> Blocker:
    first = tally.first
    assert first is not None  # it was met there
    return Blocker(
        met.op, met.cause, met.code, met.verdict, met.text, met.confidence,
        tally.calls, tuple(sorted(tally.called)), first.module, first.file, first.line,
    )  # fmt: skip


class _Search:
    """What is in the way of calls; each call is looked at once."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._known: dict[int, tuple[Node, tuple[_Met, ...]]] = {}

    def of(self, node: Node) -> tuple[_Met, ...]:
        """Each thing once, in the order in which the dispatcher would meet it."""
        found = self._known.get(id(node))
        if found is None:  # nodes are kept, so that no other gets the number of one
            found = self._known[id(node)] = node, tuple(dict.fromkeys(self._met(node)))
        return found[1]

    def _met(self, node: Node) -> Iterator[_Met]:
        plain = self._walk.plain(node)
        for condition, _ in self._walk.matched(node, plain):
            if condition.verdict.rank >= Verdict.FALLBACK.rank:
                yield self._condition(condition, node)
        if plain.verdict.on_device:
            return
        inside = list(self._inside(node)) if plain.about else []
        yield from inside or [_plain(plain, node)]

    def _inside(self, node: Node) -> Iterator[_Met]:
        """The same of what a call runs as; nothing where the device branches otherwise."""
        for part, resolution, _ in self._walk.runs_as(node):
            if not resolution.verdict.on_device:
                yield from self.of(part)

    def _condition(self, condition: Condition, node: Node) -> _Met:
        matched = tuple(map(_general, matches(condition, node) or ()))
        text = sentence(condition, matched, self._walk.matrix.target.chip)
        verdict = condition.verdict
        cause = Cause.UNKNOWN if verdict is Verdict.UNKNOWN else Cause.CONDITION
        return _Met(str(node.op), cause, condition.code, verdict, text, condition.confidence)


def _general(match: Match) -> Match:
    """What a test bit on, without numbers that differ from model to model."""
    argument, actual = match
    return argument, VARIES if actual.lstrip("-").isdecimal() else actual


def cause_of(code: str) -> Cause:
    """What kind of thing a reason tells of that is known."""
    return Cause.KERNEL if code in _KERNELS else Cause.CONDITION


def _plain(resolution: Resolution, node: Node) -> _Met:
    """What is wrong with a call, or with what its device runs it as."""
    unknown = resolution.verdict is Verdict.UNKNOWN
    cause = Cause.UNKNOWN if unknown else cause_of(resolution.code)
    text = resolution.text
    if resolution.code == codes.HOST_TENSOR:
        text = Sentence("it meets a tensor of the host")
    return _Met(
        resolution.about or str(node.op),
        cause,
        resolution.code,
        resolution.verdict,
        text,
        resolution.confidence,
    )
