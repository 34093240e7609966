"""The gate's answer: what fails, what is hidden and by what, as ``opcheck.gate/1`` has it."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from opcheck.errors import OpcheckError, TraceError
from opcheck.model.policy import Baseline, Waiver
from opcheck.model.report import Finding, ModelInfo, Report, Summary
from opcheck.model.request import ScanRequest
from opcheck.model.shown import Shown
from opcheck.model.trace import Gap
from opcheck.model.verdict import Verdict

SCHEMA = "opcheck.gate/1"
GAP = "gap"
"""Reason code of what the trace could not see."""


class GateRequest(Struct, frozen=True):
    """One run of the gate, before anything was read."""

    scan: ScanRequest
    """Its source is a model, or a report that was written before."""
    policy: str = ""
    """Path of the policy; empty to look for one."""
    baseline: str = ""
    """Path of the baseline; empty for the policy's."""
    accept: str = ""
    """Path of the baseline that what fails today becomes; empty for none."""
    against: str = ""
    """Path of the report of what the change is made to; empty for none."""
    plan: bool = False
    """Whether to look for a suggestion for each finding too."""


class Cause(StrEnum):
    """What in the policy a finding runs against."""

    VERDICT = "verdict"
    REASON = "reason"
    UNKNOWN = "unknown"
    ADVISORY = "advisory"
    NONE = "none"
    """Nothing: it is no good news either, and the policy allows it."""


class Standing(StrEnum):
    """What becomes of a finding at the gate."""

    FAILS = "fails"
    WAIVED = "waived"
    BASELINED = "baselined"
    UNCHANGED = "unchanged"
    """The report that this one is compared with has it too."""
    UNSURE = "unsure"
    """It is less sure than the policy asks."""
    ALLOWED = "allowed"


class Judged(Struct, frozen=True):
    """One finding that is no good news, or a gap or an advisory in the form of one (no ``op``)."""

    finding: Finding
    """Where it fails, with those uses alone that no waiver hides."""
    cause: Cause
    standing: Standing
    waivers: tuple[int, ...] = ()
    """Which of the policy's waivers hide it, or uses of it."""


class Limit(StrEnum):
    """A figure that the policy limits."""

    SUPPORT_RATE = "min-support-rate"
    ISLANDS = "max-islands"
    FALLBACK_BYTES = "max-fallback-bytes"


class Breach(Struct, frozen=True):
    """A figure beyond its limit."""

    limit: Limit
    wanted: float
    found: float | None
    """None: there is no figure, for nothing was called."""
    baselined: bool
    """Whether the baseline has one as bad."""
    unchanged: bool = False
    """Whether the report that this one is compared with has one as bad; not where baselined."""

    @property
    def fails(self) -> bool:
        """Whether nothing that was accepted is as bad."""
        return not (self.baselined or self.unchanged)


class Before(Struct, frozen=True):
    """A target in the report that this one is compared with."""

    target: str
    """Its name there, which may be that of another release; empty where it is not there."""
    same_database: bool
    """Whether both rest on the same data, so that only the model can differ."""
    fixed: tuple[Finding, ...]
    """What failed there, and is no more."""


class TargetGate(Struct, frozen=True):
    """One target at the gate."""

    target: str
    summary: Summary
    judged: tuple[Judged, ...]
    breaches: tuple[Breach, ...]
    gone: int = 0
    """Findings of the baseline that are no more."""
    before: Before | None = None
    """What it is compared with; None where nothing is."""

    @property
    def passed(self) -> bool:
        """Whether nothing fails here."""
        return not self.failing and not self.broken

    @property
    def failing(self) -> tuple[Judged, ...]:
        """The findings that fail."""
        return tuple(one for one in self.judged if one.standing is Standing.FAILS)

    @property
    def fixed(self) -> tuple[Finding, ...]:
        """What failed in the report that this one is compared with, and is no more."""
        return () if self.before is None else self.before.fixed

    @property
    def broken(self) -> tuple[Breach, ...]:
        """The limits that fail."""
        return tuple(breach for breach in self.breaches if breach.fails)


class WaiverUse(Struct, frozen=True):
    """One waiver of the policy and what it came to."""

    waiver: Waiver
    expired: bool
    matched: int
    """Findings with a use that it hides, or would hide if it had not expired."""


class GateResult(Shown, frozen=True):
    """The gate's whole answer."""

    command = "gate"

    opcheck_version: str
    report: Report
    """What was judged; its targets are in the order of ``targets``."""
    policy: str
    """The file; empty for the defaults."""
    baseline: str
    """The file; empty for none."""
    targets: tuple[TargetGate, ...]
    waivers: tuple[WaiverUse, ...]
    accepted: Baseline | None = None
    """What to write as the new baseline, where that was asked for."""
    against: str = ""
    """The file of the report that this one is compared with; empty for none."""

    @property
    def model(self) -> ModelInfo:
        """Which model it is about."""
        return self.report.model

    @property
    def passed(self) -> bool:
        """Whether every target passes, of a model that was seen to its end."""
        return self.ended is None and all(target.passed for target in self.targets)

    @property
    def ended(self) -> Gap | None:
        """Where the run ended before the model did; None: it did not."""
        return self.report.trace.ended

    @property
    def standings(self) -> Mapping[Standing, int]:
        """How many findings fail, and how many do not, by what hides them; breaches apart."""
        counts = Counter(one.standing for target in self.targets for one in target.judged)
        return {standing: counts[standing] for standing in Standing}

    @property
    def waived_in_part(self) -> int:
        """How many findings are left with fewer uses than they have."""
        judged = (one for target in self.targets for one in target.judged)
        return sum(bool(one.waivers) and one.standing is not Standing.WAIVED for one in judged)

    @property
    def allowed(self) -> Mapping[Verdict, int]:
        """How many findings the policy allows, by verdict."""
        counts = Counter(
            one.finding.verdict
            for target in self.targets
            for one in target.judged
            if one.standing is Standing.ALLOWED
        )
        return {verdict: counts[verdict] for verdict in Verdict}

    @property
    def baselined_limits(self) -> int:
        """How many limits are broken no worse than in the baseline."""
        return sum(breach.baselined for target in self.targets for breach in target.breaches)

    @property
    def unchanged_limits(self) -> int:
        """How many limits are broken no worse than in the report that this is compared with."""
        return sum(breach.unchanged for target in self.targets for breach in target.breaches)


class PartialGateError(TraceError):
    """A model that was not seen to its end cannot pass; ``result`` is what fails until then."""

    def __init__(self, error: OpcheckError, result: GateResult) -> None:
        super().__init__(error.message, error.hint)
        self.result = result
