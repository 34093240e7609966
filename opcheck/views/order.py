"""The one order of a report's parts, so that the same answer is always the same text."""

from math import isfinite

from msgspec.structs import replace

from opcheck.model.emulation import (
    Caution,
    Difference,
    Disagreement,
    Emulation,
    HostCalls,
    Refusal,
)
from opcheck.model.report import Finding, KernelCount, Report, Summary, TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Verdict

WORST_FIRST = tuple(sorted(Verdict, key=lambda verdict: -verdict.rank))
"""Unsupported, unknown, fallback, decomposed, native."""


def arranged(report: Report) -> Report:
    """The same report in the order of the contract; arranging twice changes nothing.

    Targets stay as asked. Findings come worst verdict first, then by operator, then by id;
    kernels by operator; gaps and modules by name; figures name every verdict, best first.
    Uses and evidence keep the order in which they were given: of calls, and of weight.
    """
    trace = replace(
        report.trace,
        gaps=tuple(sorted(report.trace.gaps)),
        modules_not_called=tuple(sorted(report.trace.modules_not_called)),
        compiled=tuple(sorted(report.trace.compiled)),
        launches=tuple(sorted(report.trace.launches)),
    )
    return replace(report, trace=trace, targets=tuple(map(_target, report.targets)))


def arranged_emulation(found: Emulation) -> Emulation:
    """The same run in the order of its contract; arranging twice changes nothing.

    Calls come by phase, then by operator; differences and sites keep the order that they have.
    A run that finished has no error, and a difference that is no number is none.
    """
    agreement, differences = found.agreement, found.differences
    if agreement is not None:
        told = sorted(agreement.disagreements, key=_disagreement_key)
        agreement = replace(agreement, disagreements=tuple(told))
    if differences is not None:
        differences = tuple(map(_difference, differences))
    return replace(
        found,
        error="" if found.finished else found.error,
        error_site=None if found.finished else found.error_site,
        error_source="" if found.finished else found.error_source,
        refusals=tuple(sorted(found.refusals, key=_refusal_key)),
        host_calls=tuple(sorted(found.host_calls, key=_calls_key)),
        cautions=tuple(sorted(found.cautions, key=_calls_key)),
        gaps=tuple(sorted(found.gaps)),
        kernels=tuple(sorted(found.kernels, key=_kernel_key)),
        differences=differences,
        agreement=agreement,
    )


def _target(target: TargetReport) -> TargetReport:
    kernels = target.kernels
    return replace(
        target,
        summary=_summary(target.summary),
        findings=tuple(sorted(target.findings, key=_finding_key)),
        kernels=None if kernels is None else tuple(sorted(kernels, key=_kernel_key)),
    )


def _summary(summary: Summary) -> Summary:
    return replace(
        summary,
        operators={verdict: summary.operators.get(verdict, 0) for verdict in Verdict},
        calls={verdict: summary.calls.get(verdict, 0) for verdict in Verdict},
    )


def _finding_key(finding: Finding) -> tuple[int, str, str]:
    return WORST_FIRST.index(finding.verdict), finding.op, finding.id


def _kernel_key(kernel: KernelCount) -> tuple[str, str]:
    return kernel.op, kernel.phase


def _calls_key(item: Refusal | HostCalls | Caution) -> tuple[int, str, str, str]:
    return _PHASES.index(item.phase), item.op, item.reason.code, item.reason.text


def _refusal_key(item: Refusal) -> tuple[tuple[int, str, str, str], str]:
    return _calls_key(item), item.error


def _disagreement_key(item: Disagreement) -> tuple[str, int, str]:
    return item.kind, _PHASES.index(item.phase), item.op


def _difference(found: Difference) -> Difference:
    largest = found.largest
    return found if largest is None or isfinite(largest) else replace(found, largest=None)


_PHASES = tuple(Phase)
