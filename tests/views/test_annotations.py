"""What GitHub and GitLab are told, read as they read it."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings

from opcheck.model.report import Report
from opcheck.views.formats import report_view
from tests.views.hostile import HOSTILE, report_saying
from tests.views.plans import PLANS
from tests.views.samples import STANDARD
from tests.views.strategies import reports
from tests.views.test_sarif import moved

COMMAND = re.compile(r"::(?P<name>error|warning|notice) (?P<properties>[^:\r\n]*)::(?P<message>.*)")
KEYS = ["file", "line", "title"]


def commands(report: Report) -> list[tuple[str, dict[str, str], str]]:
    """Each command as GitHub's runner takes it apart."""
    found = []
    for text in report_view("github").render(report).removesuffix("\n").split("\n"):
        line = COMMAND.fullmatch(text)
        assert line is not None, text
        pairs = (pair.partition("=") for pair in line["properties"].split(","))
        properties = {key: _decoded(value) for key, _, value in pairs}
        found.append((line["name"], properties, _decoded(line["message"])))
    return found


def _decoded(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


def check(report: Report) -> None:
    told = commands(report)
    assert told[0][1] == {"title": "opcheck"}
    gaps = told[1 : 1 + len(report.trace.gaps)]
    assert all(properties == {"title": "opcheck: not seen"} for _, properties, _ in gaps)
    findings = told[1 + len(report.trace.gaps) :]
    assert all(list(properties) == KEYS for _, properties, _ in findings)
    order = [["error", "warning", "notice"].index(name) for name, _, _ in findings]
    assert order == sorted(order)
    wanted = any(not f.verdict.on_device for t in report.targets for f in t.findings)
    assert bool(findings) is wanted


@pytest.mark.parametrize("report", [*STANDARD.values(), *PLANS.values(), *HOSTILE])
def test_github_reads_every_command(report: Report) -> None:
    check(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_github_reads_the_commands_of_any_report(report: Report) -> None:
    check(report)


def test_what_separates_is_escaped() -> None:
    text = "a\r\n::error::b 100%, c:d"
    *_, (_, properties, message) = commands(report_saying(text))
    assert properties == {"file": text, "line": "3", "title": f"{text}: unsupported"}
    assert "\n::error::b 100%, c:d" in message
    raw = report_view("github").render(report_saying(text)).splitlines()[-1]
    assert "file=a%0D%0A%3A%3Aerror%3A%3Ab 100%25%2C c%3Ad,line=3," in raw


def test_a_finding_of_several_targets_is_one_annotation() -> None:
    told = [message for _, _, message in commands(STANDARD["three-targets"])]
    assert sum("aten::view_as_complex does not run on" in message for message in told) == 1
    assert "ascend-910a@26.1.0+torch2.12, ascend-310p@26.1.0+torch2.12: The result" in told[1]
    assert "does not take on 910a or 310p." in told[1]


def issues(report: Report) -> list[Any]:
    found: list[Any] = json.loads(report_view("gitlab").render(report))
    for issue in found:
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert all(isinstance(issue[key], str) for key in ("description", "check_name"))
        assert re.fullmatch("[0-9a-f]{32}", issue["fingerprint"])
        assert issue["location"]["path"]
        assert issue["location"]["lines"]["begin"] >= 1
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_any_report_has_what_gitlab_asks_for(report: Report) -> None:
    wanted = [f for t in report.targets for f in t.findings if not f.verdict.on_device]
    assert len(issues(report)) == len(wanted)


@pytest.mark.parametrize("sample", STANDARD)
def test_fingerprints_are_unique_and_stay_when_lines_move(sample: str) -> None:
    prints = [issue["fingerprint"] for issue in issues(STANDARD[sample])]
    found = {(t.target, f.id) for t in STANDARD[sample].targets for f in t.findings
             if not f.verdict.on_device}  # fmt: skip
    assert len(set(prints)) == len(found)
    assert prints == [issue["fingerprint"] for issue in issues(moved(STANDARD[sample]))]
