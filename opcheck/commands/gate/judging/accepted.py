"""Baselines: what a report has today, and whether a later one has it still."""

from collections.abc import Sequence, Set

from opcheck.commands.gate.values import GateResult
from opcheck.model.policy import Accepted, AcceptedTarget, Baseline
from opcheck.model.report import Finding, TargetReport
from opcheck.version import __version__


class AcceptedHere:
    """What a baseline accepts of one target."""

    def __init__(self, targets: Sequence[AcceptedTarget]) -> None:
        self._targets = targets
        self._findings: dict[str, list[Accepted]] = {}
        for target in targets:
            for one in target.findings:
                self._findings.setdefault(one.id, []).append(one)

    def has(self, finding: Finding) -> bool:
        """Whether a finding was there before, as bad and in as many places."""
        return any(
            one.verdict.rank >= finding.verdict.rank and _modules(finding) <= set(one.modules)
            for one in self._findings.get(finding.id, ())
        )

    def gone(self, ids: Set[str]) -> int:
        """How many of its findings are not among these."""
        return len(self._findings.keys() - ids)

    @property
    def support_rates(self) -> Sequence[float | None]:
        """The shares that were accepted."""
        return [target.support_rate for target in self._targets]

    @property
    def islands(self) -> int | None:
        """The most islands that were accepted; None for no such target."""
        return max((target.islands for target in self._targets), default=None)

    @property
    def fallback_bytes(self) -> int | None:
        """The most bytes that were accepted; None for no such target."""
        return max((target.fallback_bytes for target in self._targets), default=None)


def accepted_of(baseline: Baseline | None, target: TargetReport) -> AcceptedHere:
    """What a baseline says of a target; of another release of it, where it has not this one."""
    said = () if baseline is None else baseline.targets
    exact = tuple(one for one in said if one.target == target.target)
    name = short(target.target)
    return AcceptedHere(exact or [one for one in said if short(one.target) == name])


def baseline_of(result: GateResult) -> Baseline:
    """What accepts all that fails in ``result``, and nothing more: not what is waived."""
    return Baseline(
        __version__,
        tuple(
            AcceptedTarget(
                target=target.target,
                support_rate=target.summary.support_rate,
                islands=target.summary.islands,
                fallback_bytes=target.summary.fallback_bytes,
                findings=tuple(sorted({_accepted(one.finding) for one in target.failing})),
            )
            for target in result.targets
        ),
    )


def _accepted(finding: Finding) -> Accepted:
    modules = tuple(sorted(_modules(finding)))
    return Accepted(finding.id, finding.op, finding.verdict, finding.reason.code, modules)


def _modules(finding: Finding) -> set[str]:
    """Where a finding is, as far as waivers tell places apart."""
    return {use.module for use in finding.uses}


def short(target: str) -> str:
    """The vendor and chip of a target."""
    return target.partition("@")[0]
