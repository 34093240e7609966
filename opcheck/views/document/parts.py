"""What every document has in common."""

import json
from collections.abc import Mapping, Sequence

import msgspec

from opcheck.lang.sentence import Sentence
from opcheck.model.report import KernelCount, ModelInfo, Reason
from opcheck.model.trace import Gap
from opcheck.model.verdict import Evidence

Json = Mapping[str, object]
"""A JSON object."""


def as_text(document: Json | Sequence[Json]) -> str:
    """A document as it is written: ASCII only, so that no terminal or pipe can spoil it."""
    try:  # json indents in Python, a hundred times slower
        return msgspec.json.format(json.dumps(document, allow_nan=False), indent=2) + "\n"
    except msgspec.DecodeError:  # half of a pair of surrogates, which json lets pass
        return json.dumps(document, indent=2, allow_nan=False) + "\n"


def model_value(model: ModelInfo) -> Json:
    """What was run as JSON."""
    return {"source": model.source, "kind": model.kind, "digest": model.digest}


def kernel_value(kernel: KernelCount) -> Json:
    """How often the device was asked for an overload, as JSON."""
    return {
        "op": kernel.op,
        "verdict": kernel.verdict.value,
        "count": kernel.count,
        "phase": kernel.phase.value,
    }


def reason_value(reason: Reason) -> Json:
    """A reason as JSON."""
    return {"code": reason.code, **sentence_value(reason.text)}


def gap_value(gap: Gap) -> Json:
    """What was not seen, as JSON."""
    arguments = arguments_value(gap.reason)
    return {"where": gap.where, "code": gap.code, "reason": gap.reason, **arguments}


def sentence_value(text: str) -> Json:
    """A sentence and its arguments as JSON."""
    return {"text": text, **arguments_value(text)}


def arguments_value(text: str) -> Json:
    """What a sentence is made of, under the key ``arguments``; nothing for one without places."""
    if not isinstance(text, Sentence) or not text.arguments:
        return {}
    values = {
        name: sentence_value(value) if isinstance(value, Sentence) else value
        for name, value in text.arguments.items()
    }
    return {"arguments": values}


def evidence_value(evidence: Evidence) -> Json:
    """One fact's source as JSON; only what an overlay brought in names its origin."""
    value: dict[str, object] = {
        "method": evidence.method.value,
        "source": evidence.source,
        "commit": evidence.commit,
        "path": evidence.path,
        "line": evidence.line,
        "date": evidence.date,
    }
    return {**value, "origin": evidence.origin} if evidence.origin else value
