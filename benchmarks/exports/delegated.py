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
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import Walks
from opcheck.trace import trace_model

UNKNOWN = "unknown"
_SAYS = {
    Verdict.NATIVE: DELEGATED, Verdict.DECOMPOSED: DELEGATED, Verdict.FALLBACK: LEFT
}  # fmt: skip


class PlaceSaid(Struct, frozen=True):
    """One call of a case, both ways."""

    case: str
    kind: str
    call: PlacedCall
    said: str
    """Delegated, or left at least in part, or unknown."""
    why: str
    """The text of what left it."""

    @property
    def was(self) -> str:
        """Where it was: what is in part outside of delegates is left."""
        return self.call.place if self.call.place in (DELEGATED, GONE) else LEFT


class Held(Struct, frozen=True):
    """The calls of all cases."""

    rows: tuple[PlaceSaid, ...]
    unpaired: int
    """Calls of the graphs that the scan's trace has no call of the same tensors for."""


def held(folder: Path, against: Against) -> Held:
    """Every call of each case whose partitions were noted, beside what a scan says of it."""
    rows: list[PlaceSaid] = []
    unpaired = 0
    for kind in (MODEL, OPERATOR):
        happened = noted(folder / f"{kind}s.jsonl")
        for case in cases(kind):
            calls = happened.get(case.key, {}).get("calls")
            if calls is not None:
                found = msgspec.convert(calls, list[PlacedCall])
                paired = list(_paired(case, found, against))
                rows += paired
                unpaired += len(found) - len(paired)
    return Held(tuple(rows), unpaired)


def _paired(case: Case, calls: Sequence[PlacedCall], against: Against) -> Iterator[PlaceSaid]:
    """The calls of one case: those of one operator on such tensors in the order of both runs."""
    said: dict[Any, deque[tuple[str, str]]] = defaultdict(deque)
    for key, *of_call in _said(case, against):
        said[key].append((of_call[0], of_call[1]))
    for call in calls:
        waiting = said[call.op, frozenset(call.tensors)]
        if waiting:
            yield PlaceSaid(case.key, case.kind, call, *waiting.popleft())


def _said(case: Case, against: Against) -> Iterator[tuple[Any, str, str]]:
    module, args, kwargs = case.make()
    matrix = against.matrix
    with torch.no_grad():
        trace = trace_model(
            module.eval(), tuple(args), dict(kwargs), device_type=matrix.target.device_type
        )
    walk = Walks().over(trace, matrix)
    for place in trace.sequence:
        index = trace.uses[place].node
        node, found = trace.nodes[index], walk.resolution(index)
        tensors = frozenset(f"{each.dtype}{list(each.shape)}" for _, each in node.tensors())
        yield (str(node.op), tensors), _SAYS.get(found.verdict, UNKNOWN), found.text


_SAID = (DELEGATED, LEFT, UNKNOWN)


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
        if row.was != GONE and row.said not in (row.was, UNKNOWN):
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
        if row.was != GONE and row.said != UNKNOWN:
            right, of = found.get(row.kind, (0, 0))
            found[row.kind] = (right + (row.said == row.was), of + 1)
    return found
