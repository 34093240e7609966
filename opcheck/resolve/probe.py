"""What a device did with each call, compared with what the list of its target says of it."""

from collections.abc import Iterable, Iterator, Sequence

from opcheck.model.matrix import SupportMatrix
from opcheck.model.probe import Differs, Noted, Observed, Outcome
from opcheck.model.trace import Node, OpName
from opcheck.model.verdict import Verdict
from opcheck.resolve.resolution import Resolution
from opcheck.resolve.walk import Walk


def compared(
    noted: Iterable[Noted], matrix: SupportMatrix, torch_version: str
) -> tuple[tuple[Noted, ...], tuple[Differs, ...]]:
    """The calls that fared as the list says, and those that fared otherwise."""
    walk = Walk((), matrix, torch_version)
    agree, differ = list[Noted](), list[Differs]()
    for each in noted:
        resolution = _listed(walk, each.observed)
        if resolution is None:
            continue
        if _verdict(each.observed) == _seen(resolution.verdict):
            agree.append(each)
        else:
            differ.append(Differs(each.line, each.observed, resolution.verdict, resolution.text))
    return tuple(agree), tuple(sorted(differ, key=lambda d: (d.observed.op, d.line)))


def distinct(noted: Iterable[Noted]) -> Iterator[Noted]:
    """Each call once for each way that it fared."""
    seen = set()
    for each in noted:
        call = each.observed
        key = (call.op, call.arguments, call.phase, call.outcome)
        if key not in seen:
            seen.add(key)
            yield each


def _listed(walk: Walk, call: Observed) -> Resolution | None:
    """What the list says of a call; None where PyTorch takes it apart, or where that is open."""
    op = OpName.parse(call.op)
    if call.composite and call.op not in walk.matrix.entries:
        return None
    resolution = walk.decide(Node(op, call.arguments, call.results))
    return None if resolution.verdict is Verdict.UNKNOWN else resolution


def _verdict(call: Observed) -> Verdict:
    """What the list would have to say."""
    match call.outcome:
        case Outcome.WORKS:
            return Verdict.NATIVE
        case Outcome.FALLS_BACK:
            return Verdict.FALLBACK
        case _:
            return Verdict.UNSUPPORTED


def _seen(verdict: Verdict) -> Verdict:
    """A list's verdict as far as a run can tell it: composites run as anything else does."""
    return Verdict.NATIVE if verdict.on_device else verdict


def worst(noted: Sequence[Noted]) -> dict[str, Noted]:
    """By overload, the worst that came of its calls."""
    order = list(Outcome)
    found: dict[str, Noted] = {}
    for each in noted:
        op = each.observed.op
        if op not in found or order.index(each.observed.outcome) > order.index(
            found[op].observed.outcome
        ):
            found[op] = each
    return dict(sorted(found.items()))
