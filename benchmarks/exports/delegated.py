"""What opcheck says of each call's place, beside where ExecuTorch's partitioner put it."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from msgspec import Struct

from benchmarks.exports.compared import Against
from benchmarks.exports.happened import MODEL, OPERATOR, Case, cases, noted
from benchmarks.exports.placed import DELEGATED, GONE, LEFT, PlacedCall
from opcheck.model.trace import Trace
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import Walks, resolve
from opcheck.trace import trace_model

NO_PLACE = "does not run, or unknown"
_SAYS = {
    Verdict.NATIVE: DELEGATED, Verdict.DECOMPOSED: DELEGATED, Verdict.FALLBACK: LEFT
}  # fmt: skip


class PlaceSaid(Struct, frozen=True):
    """One call of a case, both ways."""

    case: str
    kind: str
    call: PlacedCall
    said: str
    """Delegated, or left at least in part, or neither."""
    why: str
    """The text of what left it."""

    @property
    def was(self) -> str:
        """Where it was: what is in part outside of delegates is left."""
        return self.call.place if self.call.place in (DELEGATED, GONE) else LEFT


class Cut(Struct, frozen=True):
    """Into how many partitions a model was cut, and is said to be."""

    case: str
    calls: int
    made: int
    said: int


class Held(Struct, frozen=True):
    """The calls of all cases."""

    rows: tuple[PlaceSaid, ...]
    cuts: tuple[Cut, ...]
    """Of the models alone."""
    unpaired: int
    """Calls of the graphs that the scan's trace has no call of the same tensors for."""


def held(folder: Path, against: Against) -> Held:
    """Every call of each case whose partitions were noted, beside what a scan says of it."""
    rows: list[PlaceSaid] = []
    cuts: list[Cut] = []
    unpaired = 0
    for kind in (MODEL, OPERATOR):
        happened = noted(folder / f"{kind}s.jsonl")
        for case in cases(kind):
            outcome = happened.get(case.key, {})
            if "calls" not in outcome:
                continue
            found = msgspec.convert(outcome["calls"], list[PlacedCall])
            trace = _traced(case, against)
            paired = list(_paired(case, found, _said(trace, against)))
            rows += paired
            unpaired += len(found) - len(paired)
            if kind == MODEL:
                said = resolve(trace, against.matrix).summary.islands
                cuts.append(Cut(case.name, len(found), outcome["partitions"], said))
    return Held(tuple(rows), tuple(cuts), unpaired)


Answers = Mapping[Any, deque[tuple[str, str]]]
"""Operator and tensors -> where each call of them goes, and why, in the order of the calls."""


def _paired(case: Case, calls: Sequence[PlacedCall], said: Answers) -> Iterator[PlaceSaid]:
    """The calls of one case: those of one operator on such tensors in the order of both runs."""
    for call in calls:
        waiting = said.get((call.op, frozenset(call.tensors)))
        if waiting:
            yield PlaceSaid(case.key, case.kind, call, *waiting.popleft())


def _traced(case: Case, against: Against) -> Trace:
    module, args, kwargs = case.make()
    device = against.matrix.target.device_type
    with torch.no_grad():
        return trace_model(module.eval(), tuple(args), dict(kwargs), device_type=device)


def _said(trace: Trace, against: Against) -> Answers:
    found: dict[Any, deque[tuple[str, str]]] = defaultdict(deque)
    walk = Walks().over(trace, against.matrix)
    for place in trace.sequence:
        index = trace.uses[place].node
        node, answer = trace.nodes[index], walk.resolution(index)
        tensors = frozenset(f"{each.dtype}{list(each.shape)}" for _, each in node.tensors())
        found[str(node.op), tensors].append((_SAYS.get(answer.verdict, NO_PLACE), answer.text))
    return found


_SAID = (DELEGATED, LEFT, NO_PLACE)


def table(found: Held) -> Iterator[str]:
    """How often each answer met each outcome."""
    yield "| what | said | was delegated | was left | nothing of it was left to run |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for kind in (MODEL, OPERATOR):
        counts = Counter((row.said, row.was) for row in found.rows if row.kind == kind)
        for said in _SAID:
            cells = " | ".join(str(counts[said, was]) for was in (DELEGATED, LEFT, GONE))
            yield f"| calls of {kind}s | {said} | {cells} |"


def classes(rows: Iterable[PlaceSaid]) -> Iterator[str]:
    """A line for each operator and way of being wrong, the most calls first."""
    found: Counter[tuple[str, str, str]] = Counter()
    causes: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.was != GONE and row.said not in (row.was, NO_PLACE):
            key = (row.call.op, row.said, row.was)
            found[key] += 1
            causes[key][_cause(row)] += 1
    for key, count in sorted(found.items(), key=lambda each: (-each[1], each[0])):
        op, said, was = key
        cause = causes[key].most_common(1)[0][0]
        yield f"| {op} | {said} | {was} | {count} | {cause} |"


def _cause(row: PlaceSaid) -> str:
    """What was left of the call, or what opcheck said that left it."""
    parts = ", ".join(dict.fromkeys(row.call.parts))
    return f"left: {parts}" if row.was == LEFT else row.why


def rates(rows: Iterable[PlaceSaid]) -> Mapping[str, tuple[int, int]]:
    """Kind -> calls that opcheck is right on, and calls that it says a place of."""
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.was != GONE and row.said != NO_PLACE:
            right, of = found.get(row.kind, (0, 0))
            found[row.kind] = (right + (row.said == row.was), of + 1)
    return found


def partitions(found: Iterable[Cut]) -> Iterator[str]:
    """A line for each model."""
    yield "| model | calls | partitions made | runs of calls that opcheck says stay |"
    yield "| --- | ---: | ---: | ---: |"
    for cut in sorted(found, key=lambda each: each.case):
        yield f"| {cut.case} | {cut.calls} | {cut.made} | {cut.said} |"
