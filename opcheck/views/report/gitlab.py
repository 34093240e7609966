"""GitLab's code quality report: what breaks, in the diff of a merge request."""

import json
from collections.abc import Mapping

from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.document.parts import as_text
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import one_line, problems, sentence, where
from opcheck.views.order import arranged
from opcheck.views.targets import short_names

SEVERITIES = {
    Verdict.UNSUPPORTED: "critical",
    Verdict.UNKNOWN: "major",
    Verdict.FALLBACK: "minor",
}


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the array that ``artifacts:reports:codequality`` takes."""
    report = arranged(report)
    names = short_names(report.targets)
    issues = [_issue(report, *found, names) for found in problems(report)]
    return as_text(issues)


def _issue(
    report: Report, target: TargetReport, finding: Finding, names: Mapping[str, str]
) -> dict[str, object]:
    path, line = where(report, finding)
    return {
        "description": sentence(target, finding),
        "check_name": one_line(f"opcheck/{finding.verdict}/{finding.reason.code}"),
        "fingerprint": fingerprint(finding.id, names[target.target]),
        "severity": SEVERITIES[finding.verdict],
        "location": {"path": one_line(path), "lines": {"begin": line}},
    }


def fingerprint(identity: str, target: str) -> str:
    """GitLab shows one of several issues that share it, so the target is part of it."""
    import hashlib  # OpenSSL takes longer to load than most commands to answer

    told = json.dumps([identity, target])
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]
