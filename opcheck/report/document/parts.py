"""What every document has in common."""

from collections.abc import Mapping

from opcheck.model.report import Reason
from opcheck.model.verdict import Evidence

Json = Mapping[str, object]
"""A JSON object."""


def reason_value(reason: Reason) -> Json:
    """A reason as JSON."""
    return {"code": reason.code, "text": reason.text}


def evidence_value(evidence: Evidence) -> Json:
    """One fact's source as JSON."""
    return {
        "method": evidence.method.value,
        "source": evidence.source,
        "commit": evidence.commit,
        "path": evidence.path,
        "line": evidence.line,
        "date": evidence.date,
    }
