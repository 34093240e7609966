"""Whether the target takes one call: its conditions, looked at with what the call was given."""

from collections.abc import Sequence, Set
from typing import Any

from msgspec import Struct
from torch import Tensor

from opcheck.emulate.overload import Overload
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Condition
from opcheck.model.predicates import RETURN
from opcheck.model.report import Reason
from opcheck.model.trace import Node, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.conditions import matches, sentence
from opcheck.resolve.kernels import mixes_host
from opcheck.trace.autocast_dtypes import handed_on
from opcheck.trace.device import Spec
from opcheck.trace.signature import Call, named_arguments


class Objection(Struct, frozen=True):
    """A condition that matches on a call."""

    verdict: Verdict
    """UNSUPPORTED: refused; FALLBACK: runs on the host; NATIVE: runs, but otherwise; UNKNOWN: runs,
    which no source settles."""
    reason: Reason


_FINE: tuple[Objection, ...] = ()


class Judge:
    """Looks each signature up once."""

    def __init__(self, chip: str, device: str, least: Confidence) -> None:
        self._chip = chip
        self._device = device
        self._least = least
        self._known: dict[tuple[Any, ...], tuple[Objection, ...]] = {}

    def before(self, overload: Overload, call: Call) -> tuple[Objection, ...]:
        """What is against a call by its arguments, worst first, and surest among those."""
        found = self._known.get(call.key)
        if found is None:
            found = self._known[call.key] = self._judged(overload, call)
        return found

    def cast(self, overload: Overload, call: Call, reached: Set[str]) -> tuple[Objection, ...]:
        """The same of a composite whose tensors reach what it runs as in these dtypes."""
        return self._judged(overload, call, reached)

    def after(self, overload: Overload, result: Any) -> tuple[Objection, ...]:
        """What is against a call by its results."""
        conditions = [c for c in overload.conditions if _looks_at_results(c)]
        if not conditions:
            return _FINE
        return self._bitten(Node(overload.op, (), _results(result)), conditions)

    def _judged(
        self, overload: Overload, call: Call, reached: Set[str] = frozenset()
    ) -> tuple[Objection, ...]:
        given = named_arguments(overload.facts.argument_names, call.args, call.kwargs)
        composite = overload.facts.composite
        node = Node(overload.op, handed_on(given, reached), composite=composite)
        inside = overload.composite is not None and not overload.native
        if mixes_host(node, inside=inside):
            text = Sentence(
                "a tensor in host memory meets tensors on {device}", device=self._device
            )
            return (Objection(Verdict.UNSUPPORTED, Reason(codes.HOST_TENSOR, text)),)
        conditions = [c for c in overload.conditions if not _looks_at_results(c)]
        if overload.leaves:  # what only a document says is of no kernel that is not there
            conditions = [c for c in conditions if c.confidence is Confidence.HIGH]
        return self._bitten(node, conditions) if conditions else _FINE

    def _bitten(self, node: Node, conditions: Sequence[Condition]) -> tuple[Objection, ...]:
        found = []
        for condition in sorted(conditions, key=lambda c: c.confidence.rank):
            unsure = condition.confidence.rank > self._least.rank
            matched = None if unsure else matches(condition, node)
            if matched is not None:
                text = sentence(condition, matched, self._chip)
                found.append(Objection(condition.verdict, Reason(condition.code, text)))
        return tuple(sorted(found, key=lambda o: -o.verdict.rank))


def _looks_at_results(condition: Condition) -> bool:
    return any(predicate.argument == RETURN for predicate in condition.predicates)


def _results(result: Any) -> tuple[Value, ...]:
    values = result if isinstance(result, (list, tuple)) else (result,)
    return tuple(Spec.like(v).meta for v in values if isinstance(v, Tensor))
