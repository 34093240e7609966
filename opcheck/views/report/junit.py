"""JUnit's XML: one test suite a target, one test case a finding, for any CI's page of tests."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from msgspec import Struct

from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, Place, Report, TargetReport
from opcheck.model.text import printable
from opcheck.model.verdict import Verdict
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import one_line, sentence
from opcheck.views.order import arranged
from opcheck.views.terminal import words
from opcheck.views.terminal.notation import percent, source

ELEMENTS = {
    Verdict.UNSUPPORTED: "failure",
    Verdict.UNKNOWN: "error",
    Verdict.FALLBACK: "skipped",
}
"""What a test case holds for a verdict; for native and decomposed it holds nothing, and passes."""


def render(report: Report, page: Page = PLAIN) -> str:
    """Give the document."""
    report = arranged(report)
    return document(
        suite(
            target,
            number,
            [_case(target, finding) for finding in target.findings],
            facts=facts(report, target),
            out=_advisory_lines(target),
            err=_unseen(report),
            started=page.started,
        )
        for number, target in enumerate(report.targets)
    )


class Case(Struct, frozen=True):
    """One test case; without an element it passes."""

    name: str
    element: str = ""
    """``failure``, ``error`` or ``skipped``."""
    message: str = ""
    kind: str = ""
    """Its type; what is skipped has none."""
    body: Sequence[str] = ()


def document(suites: Iterable[str]) -> str:
    """The whole file."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", *suites, "</testsuites>"]
    return "".join(f"{line}\n" for line in lines)


def suite(
    target: TargetReport,
    number: int,
    cases: Sequence[Case],
    *,
    facts: Sequence[tuple[str, str]],
    out: str,
    err: str,
    started: str,
) -> str:
    """The suite of a target; ``started``: when the command began, "" where none did."""
    name = target.target or "target"
    when = started or _midnight(target.database_date)
    return _suite(name, when, number, cases, facts, (out, err))


def plain_suite(name: str, cases: Sequence[Case], started: str = "") -> str:
    """A suite that is of no target."""
    return _suite(name, started or _midnight(""), 0, cases, (), ("", ""))


def _midnight(day: str) -> str:
    return f"{_day(day)}T00:00:00"


def _suite(
    name: str,
    started: str,
    number: int,
    cases: Sequence[Case],
    facts: Sequence[tuple[str, str]],
    streams: tuple[str, str],
) -> str:
    counts = Counter(case.element for case in cases)
    start = _tag(
        "testsuite",
        name=name,
        package="opcheck",
        id=number,
        timestamp=started,
        hostname="localhost",
        tests=len(cases),
        failures=counts["failure"],
        errors=counts["error"],
        skipped=counts["skipped"],
        time=0,
    )
    return "\n".join([
        f"  <{start}>",
        "    <properties>",
        *(f"      <{_tag('property', name=key, value=value)}/>" for key, value in facts),
        "    </properties>",
        *(_written(name, case) for case in cases),
        f"    <system-out>{_text(streams[0])}</system-out>",
        f"    <system-err>{_text(streams[1])}</system-err>",
        "  </testsuite>",
    ])  # fmt: skip


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:  # a report made by hand; the schema wants a day all the same
        return date(1970, 1, 1)


def _case(target: TargetReport, finding: Finding) -> Case:
    name = f"{finding.op} {finding.reason.code} [{finding.id}]"
    element = ELEMENTS.get(finding.verdict)
    if element is None:
        return Case(name)
    told = sentence(target, finding)
    kind = f"{finding.verdict}/{finding.reason.code}"
    return Case(name, element, told, kind, (told, *details(finding)))


def _written(suite_name: str, case: Case) -> str:
    start = _tag("testcase", name=case.name, classname=suite_name, time=0)
    if not case.element:
        return f"    <{start}/>"
    kind = {} if case.element == "skipped" else {"type": case.kind}
    inner = _tag(case.element, message=case.message, **kind)
    body = _text("\n".join(case.body))
    return f"    <{start}>\n      <{inner}>{body}</{case.element}>\n    </testcase>"


def details(finding: Finding) -> list[str]:
    """Where it is called, and how the verdict is known, one a line."""
    lines = [_place(use) for use in finding.uses]
    lines += [
        Sentence("known: {said}, {text}", said=known.method, text=source(known, verbose=True))
        for known in finding.evidence
    ]
    return [one_line(tell(line)) for line in lines]


def _place(use: Place) -> Sentence:
    """A line of code, its module, and how often it makes the call."""
    code = f"{use.file}:{use.line}" if use.file else ""
    calls = "({count} call)" if use.count == 1 else "({count} calls)"
    both = "at {text} in {text_module}" if code and use.module else "at {text}"
    return Sentence(
        f"{both} {calls}",
        count=f"{use.count:,}",
        text=code or use.module or Sentence(words.ROOT),
        text_module=use.module,
    )


def facts(report: Report, target: TargetReport) -> list[tuple[str, str]]:
    """What the suite of a target rests on."""
    rate = target.summary.support_rate
    return [
        ("model", report.model.source),
        ("model digest", report.model.digest),
        ("mode", report.trace.mode),
        ("opcheck", report.opcheck_version),
        ("torch", report.torch_version),
        ("database", target.database_digest),
        ("runs", words.runs(target)),
        ("support rate", "" if rate is None else percent(rate)),
    ]


def _advisory_lines(target: TargetReport) -> str:
    return "\n".join(one_line(tell(advisory.text)) for advisory in target.advisories)


def _unseen(report: Report) -> str:
    return "\n".join(
        one_line(tell(Sentence("not seen: {text}: {said}", text=gap.where, said=gap.reason)))
        for gap in report.trace.gaps
    )


def _tag(name: str, /, **attributes: object) -> str:
    told = (f' {key}="{_text(one_line(str(value)))}"' for key, value in attributes.items())
    return name + "".join(told)


def _text(text: str) -> str:
    """Only characters that XML may hold, and none that it would read as markup."""
    text = printable(text, kept="\n")
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;")
