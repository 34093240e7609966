"""JUnit's XML: one test suite a target, one test case a finding, for any CI's page of tests."""

from collections import Counter
from datetime import date

from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.text import printable
from opcheck.model.verdict import Verdict
from opcheck.report.base import PLAIN, Format, Page
from opcheck.report.order import arranged
from opcheck.report.problems import one_line, sentence
from opcheck.report.terminal import words
from opcheck.report.terminal.units import percent, plural, source

ELEMENTS = {
    Verdict.UNSUPPORTED: "failure",
    Verdict.UNKNOWN: "error",
    Verdict.FALLBACK: "skipped",
}
"""What a test case holds for a verdict; for native and decomposed it holds nothing, and passes."""


class JunitFormat(Format):
    """Elements and attributes that Ant's and Jenkins's schemas both have, and no others.

    Ant's wants a time and a host of every suite. A report knows neither: the time is that of the
    database's newest entry, and the host is ``localhost``.
    """

    name = "junit"

    def render(self, report: Report, page: Page = PLAIN) -> str:
        """Give the document."""
        report = arranged(report)
        suites = [_suite(report, target, n) for n, target in enumerate(report.targets)]
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", *suites, "</testsuites>"]
        return "".join(f"{line}\n" for line in lines)


def _suite(report: Report, target: TargetReport, number: int) -> str:
    counts = Counter(ELEMENTS.get(finding.verdict) for finding in target.findings)
    start = _tag(
        "testsuite",
        name=target.target or "target",
        package="opcheck",
        id=number,
        timestamp=f"{_day(target.database_date)}T00:00:00",
        hostname="localhost",
        tests=len(target.findings),
        failures=counts["failure"],
        errors=counts["error"],
        skipped=counts["skipped"],
        time=0,
    )
    return "\n".join([
        f"  <{start}>",
        "    <properties>",
        *(f"      <{_tag('property', name=k, value=v)}/>" for k, v in _facts(report, target)),
        "    </properties>",
        *(_case(target, finding) for finding in target.findings),
        f"    <system-out>{_text(_said(target))}</system-out>",
        f"    <system-err>{_text(_unseen(report))}</system-err>",
        "  </testsuite>",
    ])  # fmt: skip


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:  # a report made by hand; the schema wants a day all the same
        return date(1970, 1, 1)


def _case(target: TargetReport, finding: Finding) -> str:
    case = _tag(
        "testcase",
        name=f"{finding.op} {finding.reason.code} [{finding.id}]",
        classname=target.target or "target",
        time=0,
    )
    element = ELEMENTS.get(finding.verdict)
    if element is None:
        return f"    <{case}/>"
    told = sentence(target, finding)
    kind = {"type": f"{finding.verdict}/{finding.reason.code}"}
    start = _tag(element, message=told, **({} if element == "skipped" else kind))
    body = "\n".join([told, *_details(finding)])
    return f"    <{case}>\n      <{start}>{_text(body)}</{element}>\n    </testcase>"


def _details(finding: Finding) -> list[str]:
    """Where it is called, and how the verdict is known, one a line."""
    lines = []
    for use in finding.uses:
        code = f"{use.file}:{use.line}" if use.file else ""
        named = " in ".join(filter(None, (code, use.module))) or words.ROOT
        lines.append(f"at {named} ({plural(use.count, 'call')})")
    lines += [f"known: {known.method}, {source(known, verbose=True)}" for known in finding.evidence]
    return [one_line(line) for line in lines]


def _facts(report: Report, target: TargetReport) -> list[tuple[str, str]]:
    rate = target.summary.support_rate
    return [
        ("model", report.model.source),
        ("model digest", report.model.digest),
        ("mode", report.trace.mode),
        ("opcheck", report.opcheck_version),
        ("torch", report.torch_version),
        ("database", target.database_digest),
        ("runs", words.RUNS[target.summary.runs]),
        ("support rate", "" if rate is None else percent(rate)),
    ]


def _said(target: TargetReport) -> str:
    return "\n".join(one_line(advisory.text) for advisory in target.advisories)


def _unseen(report: Report) -> str:
    return "\n".join(one_line(f"not seen: {gap.where}: {gap.reason}") for gap in report.trace.gaps)


def _tag(name: str, /, **attributes: object) -> str:
    told = (f' {key}="{_text(one_line(str(value)))}"' for key, value in attributes.items())
    return name + "".join(told)


def _text(text: str) -> str:
    """Only characters that XML may hold, and none that it would read as markup."""
    text = printable(text, kept="\n")
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;")
