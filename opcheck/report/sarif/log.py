"""A report as one run of SARIF 2.1.0."""

from collections.abc import Mapping

from opcheck.model.report import Report, Summary, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.report.document.parts import Json
from opcheck.report.names import short_names
from opcheck.report.problems import one_line, problems
from opcheck.report.sarif.results import result
from opcheck.report.sarif.rules import descriptor, rule_id
from opcheck.report.sarif.text import ROOT, message

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif_log(report: Report) -> Json:
    """The whole log; what is native is counted in the run's properties, and is no result."""
    found = list(problems(report))
    rules = {rule_id(finding): finding for _, finding in found}
    numbers = {name: number for number, name in enumerate(sorted(rules))}
    names = short_names(report.targets)
    run = {
        "tool": {
            "driver": {
                "name": "opcheck",
                "version": report.opcheck_version,
                "rules": [descriptor(rules[name]) for name in numbers],
            }
        },
        "automationDetails": {"id": f"opcheck/{one_line(report.model.source)}/"},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {ROOT: {"description": message("The folder opcheck was run in.")}},
        "columnKind": "unicodeCodePoints",
        "results": [result(report, *one, numbers[rule_id(one[1])], names) for one in found],
        "properties": _properties(report),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(report: Report) -> Json:
    """What could not be seen, and what holds for a target as a whole."""
    told = [_notification("warning", f"{gap.where}: {gap.reason}") for gap in report.trace.gaps]
    for target in report.targets:
        told += [
            _notification("note", f"{target.target}: {advisory.text}")
            for advisory in target.advisories
        ]
    return {
        "executionSuccessful": report.trace.ended is None,
        "toolExecutionNotifications": told,
    }


def _notification(level: str, text: str) -> Json:
    return {"level": level, "message": message(text)}


def _properties(report: Report) -> Json:
    trace = report.trace
    return {
        "torchVersion": report.torch_version,
        "model": {"source": report.model.source, "digest": report.model.digest},
        "mode": trace.mode,
        "deviceType": trace.device_type,
        "calls": trace.calls,
        "operators": trace.operators,
        "targets": [_target(target) for target in report.targets],
    }


def _target(target: TargetReport) -> Json:
    summary: Summary = target.summary
    return {
        "target": target.target,
        "runs": summary.runs,
        "supportRate": summary.support_rate,
        "operators": _counts(summary.operators),
        "islands": summary.islands,
        "fallbackBytes": summary.fallback_bytes,
        "databaseDigest": target.database_digest,
        "databaseDate": target.database_date,
    }


def _counts(counts: Mapping[Verdict, int]) -> Json:
    return {verdict.value: counts[verdict] for verdict in Verdict}
