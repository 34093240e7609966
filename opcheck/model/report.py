"""The answer: findings per target, as the report contract ``opcheck.report/1`` has them."""

from collections.abc import Mapping

from msgspec import Struct

from opcheck.errors import OpcheckError, TraceError
from opcheck.model.dynamic import SiteTaken
from opcheck.model.launches import Launch
from opcheck.model.model_lists import ModelEvidence
from opcheck.model.plan import Declined, PlanSummary, Suggestion
from opcheck.model.shown import Shown
from opcheck.model.trace import RUN_ENDED, CompiledRegion, Gap, Phase
from opcheck.model.verdict import Confidence, Evidence, Verdict

SCHEMA = "opcheck.report/1"
SCRIPT = "script"
"""The kind of what was run whole, as a script that makes its own model."""


class Reason(Struct, frozen=True):
    """Why a verdict was given."""

    code: str
    """Stable, for machines: ``registered``, ``no-kernel``, ``dtype-not-supported``, …"""
    text: str
    """One sentence, for people."""


class Place(Struct, frozen=True):
    """One place in the model where a finding applies."""

    module: str
    file: str
    line: int
    inputs: tuple[str, ...]
    """``name: dtype[shape]`` of tensor arguments, ``name=value`` of constants."""
    decomposed_into: tuple[str, ...]
    """Overloads that the call runs as on this target, sorted; empty where it runs as itself."""
    count: int


class Finding(Struct, frozen=True):
    """One operator on one target: how it fares, why, where, and how that is known."""

    id: str
    op: str
    verdict: Verdict
    confidence: Confidence
    reason: Reason
    count: int
    phase: Phase
    uses: tuple[Place, ...]
    evidence: tuple[Evidence, ...]
    suggestions: tuple[Suggestion, ...] = ()
    """Suggestions, the cheapest first; only in a plan."""
    declined: tuple[Declined, ...] = ()
    """What was looked at for calls that no suggestion helps, and why it is no suggestion."""
    steps: tuple[str, ...] = ()
    """What was looked at for the first of its calls, in order; only where that is asked for."""


class KernelCount(Struct, frozen=True):
    """One overload that the target itself is asked to run, after decomposition."""

    op: str
    verdict: Verdict
    count: int
    phase: Phase


class Summary(Struct, frozen=True):
    """The figures of one target."""

    support_rate: float | None
    """Distinct operators native or decomposed over all, four decimals; None for an empty trace."""
    runs: bool | None
    operators: Mapping[Verdict, int]
    calls: Mapping[Verdict, int]
    islands: int
    """Maximal runs of calls that stay on the device between fallbacks."""
    fallback_bytes: int
    """Bytes that cross between device and host for fallbacks, in one forward."""


class Partition(Struct, frozen=True):
    """Calls in a row that all fall back, or none of which does: an island."""

    fallback: bool
    calls: int
    module: str
    """Where the first of them is made, as in a use."""


class Segment(Struct, frozen=True):
    """Calls in a row of which all stay on the device, or all have the same other verdict."""

    verdict: Verdict | None
    """None: they stay on the device, be it as other operators."""
    calls: int
    module: str
    """Where the first of them is made, as in a use."""


WITHOUT_CHIP = "wheel-without-chip"
"""The code of the advisory that the package index's wheel of torch has no kernels for a chip."""


class TargetReport(Struct, frozen=True):
    """Everything said about one target."""

    target: str
    vendor: str
    chip: str
    sdk: str
    torch: str
    database_digest: str
    database_date: str
    summary: Summary
    findings: tuple[Finding, ...]
    kernels: tuple[KernelCount, ...] | None
    advisories: tuple[Reason, ...] = ()
    plan: PlanSummary | None = None
    """What the suggestions come to; None in a scan, which makes none."""
    elsewhere: str = ""
    """Where what falls back runs if that is not the host, as a relative clause: of a graph
    compiler, ``which PyTorch runs on the same GPU, between two engines``."""
    dynamic: tuple[SiteTaken, ...] = ()
    """Where sizes that are not always the same matter, and how the target takes each place."""
    partitions: tuple[Partition, ...] = ()
    """The run in the order of its calls, cut where they begin or cease to fall back; () where none
    does."""
    segments: tuple[Segment, ...] = ()
    """The run in the order of its calls, cut where the verdict changes; () where the target is
    known to take every call."""
    model: ModelEvidence | None = None
    """What its vendor or community lists of the model; None where that names no such one."""

    @property
    def needs_another_build(self) -> bool:
        """Whether the model runs, but not with the wheel of torch that the package index has."""
        told = (advisory.code for advisory in self.advisories)
        return self.summary.runs is True and WITHOUT_CHIP in told


class ModelInfo(Struct, frozen=True):
    """What was scanned."""

    source: str
    kind: str
    digest: str


class TraceInfo(Struct, frozen=True):
    """What the findings rest on."""

    mode: str
    device_type: str
    calls: int
    operators: int
    gaps: tuple[Gap, ...]
    modules_not_called: tuple[str, ...]
    notes: tuple[str, ...] = ()
    compiled: tuple[CompiledRegion, ...] = ()
    """What ``torch.compile`` was asked to compile; each of them is a gap as well."""
    launches: tuple[Launch, ...] = ()
    """Kernels of the model's own."""

    @property
    def ended(self) -> Gap | None:
        """Where the run ended before the model did; None: it did not, and the trace is whole."""
        return next((gap for gap in self.gaps if gap.code == RUN_ENDED), None)


class Report(Shown, frozen=True):
    """The whole answer; every format is made from it."""

    opcheck_version: str
    torch_version: str
    model: ModelInfo
    trace: TraceInfo
    targets: tuple[TargetReport, ...]


class PartialReportError(TraceError):
    """The model's process ended before the model did; ``report`` is of what it did until then."""

    def __init__(self, error: OpcheckError, report: Report) -> None:
        super().__init__(error.message, error.hint)
        self.report = report
