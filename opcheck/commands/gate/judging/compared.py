"""A report beside that of what a change is made to: what is no more."""

from collections.abc import Set

from opcheck.commands.gate.judging.accepted import baseline_of, short
from opcheck.commands.gate.values import Before, GateResult
from opcheck.model.report import TargetReport


class Earlier:
    """What failed, by the same policy, before the change."""

    def __init__(self, judged: GateResult) -> None:
        self._judged = judged
        self.accepted = baseline_of(judged)
        """What the change need not answer for."""

    def of(self, target: TargetReport, caused: Set[str]) -> Before:
        """One target before; ``caused``: ids of what runs against the policy now."""
        there = list(zip(self._judged.targets, self._judged.report.targets, strict=True))
        found = [pair for pair in there if pair[0].target == target.target]
        found = found or [pair for pair in there if short(pair[0].target) == short(target.target)]
        fixed = {
            one.finding.id: one.finding
            for gate, _ in found
            for one in gate.failing
            if one.finding.id not in caused
        }
        return Before(
            target=", ".join(gate.target for gate, _ in found),
            same_database=all(one.database_digest == target.database_digest for _, one in found),
            fixed=tuple(fixed.values()),
        )
