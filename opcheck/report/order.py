"""The one order of a report's parts, so that the same answer is always the same text."""

from dataclasses import replace

from opcheck.model.report import Finding, KernelCount, Report, Summary, TargetReport
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
    )
    return replace(report, trace=trace, targets=tuple(map(_target, report.targets)))


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
