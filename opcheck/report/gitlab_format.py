"""GitLab's code quality report: what breaks, in the diff of a merge request."""

import json
from collections.abc import Mapping

from opcheck.model.gate import GateResult
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.names import short_names
from opcheck.report.order import arranged
from opcheck.report.problems import one_line, problems, sentence, where

SEVERITIES = {
    Verdict.UNSUPPORTED: "critical",
    Verdict.UNKNOWN: "major",
    Verdict.FALLBACK: "minor",
}


class GitlabFormat(Format):
    """One issue for each finding on each target; its fingerprint stays when lines move."""

    name = "gitlab"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the array that ``artifacts:reports:codequality`` takes."""
        report = arranged(report)
        names = short_names(report.targets)
        issues = [_issue(report, *found, names) for found in problems(report)]
        return json.dumps(issues, indent=2) + "\n"

    def render_gate(
        self, found: GateResult, page: Page = PLAIN, *, show_waived: bool = False
    ) -> str:
        """Give an issue for each thing that fails, and one that counts what is hidden."""
        from opcheck.report.gate.gitlab import issues

        return json.dumps(issues(found), indent=2) + "\n"


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
