"""What is said of a kernel of the model's own on a target."""

from msgspec import Struct

from opcheck.model.verdict import Confidence, Evidence, Verdict


class Judged(Struct, frozen=True):
    """How the launch of a kernel fares on a target."""

    verdict: Verdict
    code: str
    text: str
    confidence: Confidence
    evidence: tuple[Evidence, ...] = ()
