"""What helps where code cannot be compiled on a target, or nobody knows whether it can."""

from collections.abc import Iterator, Sequence

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Remedy, Suggestion, Tier
from opcheck.model.report import Finding
from opcheck.resolve.compiled import COMPILE


def fixes(finding: Finding, remedies: Sequence[Remedy]) -> Iterator[Suggestion]:
    """Remedies for a finding on compiled code, the closest in values first.

    Its calls were recorded as the code is written, so that running it so is proven by their own
    findings; what is compiled by another back end, or in part, was not seen, and is advice.
    """
    if finding.op != COMPILE or finding.verdict.on_device:
        return
    known = (one for one in remedies if COMPILE in one.ops and finding.reason.code in one.codes)
    for remedy in sorted(known, key=lambda one: (one.label.rank, one.id)):
        seen = not remedy.label.rank
        yield Suggestion(
            rule=remedy.id,
            tier=Tier.COMPAT,
            label=remedy.label,
            replaces=COMPILE,
            summary=Sentence(f"{remedy.summary}: {{text}}", text=remedy.write),
            gives_up=remedy.gives_up,
            unmeasured="" if seen else Sentence("what is compiled then was not seen"),
            by_hand=not seen,
            places=tuple(range(len(finding.uses))),
            evidence=remedy.evidence,
        )
