"""What keeps ``torch.export`` from a whole model, as findings: no operator stands for it."""

import hashlib
from collections.abc import Iterator, Sequence

from opcheck.lang.sentence import Sentence
from opcheck.model.kept_out import UnknownClass
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.report import Finding, Place, Reason
from opcheck.model.trace import Node, OpName, Phase, Trace
from opcheck.resolve.conditions import matches, sentence

EXPORT = OpName("torch", "export")
"""What stands for the operator; the database has conditions on it, of these arguments."""
_CACHES = "transformers.cache_utils."


def findings(trace: Trace, matrix: SupportMatrix) -> tuple[Finding, ...]:
    """A finding for each class that a condition of a target of export is about, sorted."""
    return tuple(_findings(trace.unknown_classes, matrix))


def _findings(classes: Sequence[UnknownClass], matrix: SupportMatrix) -> Iterator[Finding]:
    for found in classes:
        node = Node(EXPORT, ((found.what.value, found.name),))
        for condition in matrix.conditions_for(str(EXPORT)):
            matched = matches(condition, node)
            if matched is not None:
                text = _without(found, sentence(condition, matched, matrix.target.chip))
                yield _finding(found, condition, Reason(condition.code, text))
                break


def _without(found: UnknownClass, text: Sentence) -> Sentence:
    """The sentence with the switch that leaves a class out, where there is one."""
    if found.returned and found.name.startswith(_CACHES):
        return Sentence(
            '{said}; use_cache=False in the call, or "use_cache": false in config.json, leaves it'
            " out",
            said=text,
        )
    return text


def _finding(found: UnknownClass, condition: Condition, reason: Reason) -> Finding:
    parts = (str(EXPORT), condition.code, found.name, str(found.returned))
    file, _, line = found.where.rpartition(":")
    return Finding(
        id=hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12],
        op=str(EXPORT),
        verdict=condition.verdict,
        confidence=condition.confidence,
        reason=reason,
        count=1,
        phase=Phase.FORWARD,
        uses=(Place("", file, int(line or 0), (), (), 1),),
        evidence=condition.evidence,
    )
