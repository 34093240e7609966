"""A report as one run of SARIF 2.1.0."""

from collections.abc import Iterable, Mapping, Sequence

from opcheck.model.report import Report, Summary, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.document.parts import Json
from opcheck.views.names import short_names
from opcheck.views.problems import one_line, problems
from opcheck.views.sarif.results import result
from opcheck.views.sarif.rules import descriptor, rule_id
from opcheck.views.sarif.text import ROOT, message

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif_log(report: Report) -> Json:
    """The whole log; what is native is counted in the run's properties, and is no result."""
    found = list(problems(report))
    rules = {rule_id(finding): descriptor(finding) for _, finding in found}
    numbers = numbered(rules)
    names = short_names(report.targets)
    results = [result(report, *one, numbers[rule_id(one[1])], names) for one in found]
    return log(report, "opcheck", rules, results, {}, run_properties(report))


def numbered(rules: Iterable[str]) -> Mapping[str, int]:
    """The index of each rule."""
    return {name: number for number, name in enumerate(sorted(rules))}


def log(
    report: Report,
    category: str,
    rules: Mapping[str, Json],
    results: Sequence[Json],
    invocation: Json,
    properties: Json,
) -> Json:
    """A log of one run; ``category`` keeps it apart from others on the same model."""
    run = {
        "tool": {
            "driver": {
                "name": "opcheck",
                "version": report.opcheck_version,
                "rules": [rules[name] for name in numbered(rules)],
            }
        },
        "automationDetails": {"id": f"{category}/{one_line(report.model.source)}/"},
        "invocations": [{**_invocation(report), **invocation}],
        "originalUriBaseIds": {ROOT: {"description": message("The folder opcheck was run in.")}},
        "columnKind": "unicodeCodePoints",
        "results": list(results),
        "properties": properties,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(report: Report) -> Json:
    """What could not be seen, and what holds for a target as a whole."""
    told = [notification("warning", f"{gap.where}: {gap.reason}") for gap in report.trace.gaps]
    for target in report.targets:
        told += [
            notification("note", f"{target.target}: {advisory.text}")
            for advisory in target.advisories
        ]
    return {
        "executionSuccessful": report.trace.ended is None,
        "toolExecutionNotifications": told,
    }


def notification(level: str, text: str) -> Json:
    """Something that is no result."""
    return {"level": level, "message": message(text)}


def run_properties(report: Report) -> Json:
    """What the run was, and how each target fares."""
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
