"""Where sizes matter that are not always the same, as JSON and back."""

from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking
from opcheck.model.verdict import Confidence
from opcheck.views.document.node import Node
from opcheck.views.document.parts import Json, evidence_value
from opcheck.views.document.reading import read_evidence


def taken_value(found: SiteTaken) -> Json:
    """One place on one target as JSON."""
    site = found.site
    return {
        "kind": site.kind.value,
        "op": site.op or None,
        "module": site.module,
        "file": site.file,
        "line": site.line,
        "count": site.count,
        "text": site.text,
        "how": found.how.value,
        "why": found.text,
        "confidence": found.confidence.value,
        "evidence": [evidence_value(evidence) for evidence in found.evidence],
    }


def read_taken(node: Node) -> SiteTaken:
    """One place on one target."""
    op = node.optional("op")
    site = Site(
        kind=node.member("kind", SiteKind),
        op="" if op is None else op.as_text(),
        module=node.text("module"),
        file=node.text("file"),
        line=node.number("line"),
        count=node.number("count"),
        text=node.text("text"),
    )
    return SiteTaken(
        site=site,
        how=node.member("how", Taking),
        text=node.text("why"),
        confidence=node.member("confidence", Confidence),
        evidence=tuple(map(read_evidence, node.items("evidence"))),
    )
