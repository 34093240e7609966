"""SARIF by its official schema, and what code scanning makes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from opcheck.model.report import Report
from opcheck.views.formats import report_view
from tests.views.hostile import HOSTILE, TEXTS, report_saying
from tests.views.plans import PLANS
from tests.views.samples import STANDARD
from tests.views.strategies import reports

SCHEMA = Path(__file__).parent / "schemas" / "sarif-2.1.0.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))


def run_of(report: Report) -> Any:
    log = json.loads(report_view("sarif").render(report))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    return run


@pytest.mark.parametrize("report", [*STANDARD.values(), *PLANS.values(), *HOSTILE])
def test_standard_reports_follow_the_schema(report: Report) -> None:
    run_of(report)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(reports)
def test_any_report_follows_the_schema(report: Report) -> None:
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["defaultConfiguration"]["level"] == result["level"]
        (location,) = result["locations"]  # code scanning refuses a result without one
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        assert location["physicalLocation"]["artifactLocation"]["uri"].isascii()


def test_every_finding_that_is_not_native_is_a_result() -> None:
    levels = {"unsupported": "error", "unknown": "warning", "fallback": "note"}
    for report in STANDARD.values():
        expected = sorted(
            (levels[finding.verdict], target.target, finding.id)
            for target in report.targets
            for finding in target.findings
            if finding.verdict in levels
        )
        found = [
            (r["level"], r["properties"]["target"], r["partialFingerprints"]["opcheckFinding/v1"])
            for r in run_of(report)["results"]
        ]
        assert sorted(found) == expected


def moved(report: Report) -> Report:
    """The same report after lines were added above every place."""
    return replace(
        report,
        targets=tuple(
            replace(
                target,
                findings=tuple(
                    replace(
                        finding,
                        uses=tuple(replace(u, line=u.line and u.line + 9) for u in finding.uses),
                    )
                    for finding in target.findings
                ),
            )
            for target in report.targets
        ),
    )


@pytest.mark.parametrize("sample", STANDARD)
def test_fingerprints_stay_when_lines_move(sample: str) -> None:
    before, after = run_of(STANDARD[sample]), run_of(moved(STANDARD[sample]))
    prints = [result["partialFingerprints"] for result in before["results"]]
    assert prints == [result["partialFingerprints"] for result in after["results"]]


def test_fingerprints_tell_targets_apart() -> None:
    results = run_of(STANDARD["three-targets"])["results"]
    hashes = [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]
    assert len(set(hashes)) == len(hashes) > len({h.partition(":")[0] for h in hashes})


def test_fingerprints_stay_when_the_database_has_a_newer_release() -> None:
    report = STANDARD["three-targets"]
    newer = tuple(replace(one, target=f"{one.target}.1", sdk="26.2.0") for one in report.targets)
    before, after = run_of(report), run_of(replace(report, targets=newer))
    prints = [result["partialFingerprints"] for result in before["results"]]
    assert prints == [result["partialFingerprints"] for result in after["results"]]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/net.py", {"uri": "src/net.py", "uriBaseId": "%SRCROOT%"}),
        ("a b/算%.py", {"uri": "a%20b/%E7%AE%97%25.py", "uriBaseId": "%SRCROOT%"}),
        ("C:\\x", {"uri": "C%3A%5Cx", "uriBaseId": "%SRCROOT%"}),
        ("/abs/net.py", {"uri": "file:///abs/net.py"}),
        ("//host/net.py", {"uri": "file:///host/net.py"}),
    ],
)
def test_places_are_relative_to_the_repository(path: str, expected: object) -> None:
    (result,) = run_of(report_saying(path))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == expected


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        ("yolov8n.pt2", "yolov8n.pt2"),
        ("nets/net.py:build", "nets/net.py"),
        ("torchvision:resnet50", "torchvision%3Aresnet50"),
        ("", "model"),
    ],
)
def test_a_finding_without_a_line_stands_at_the_model(source: str, uri: str) -> None:
    report = STANDARD["mixed"]
    (target,) = report.targets
    bare = tuple(replace(finding, uses=()) for finding in target.findings)
    model = replace(report.model, source=source)
    run = run_of(replace(report, model=model, targets=(replace(target, findings=bare),)))
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {uri}


def test_what_looks_like_a_link_or_a_placeholder_is_text() -> None:
    text = next(text for text in TEXTS if "](" in text)
    (result,) = run_of(report_saying(text))["results"]
    assert "\\[click\\](https://example.org)" in result["message"]["text"]
    assert "{{0}}" in result["message"]["text"]


def test_gaps_and_advisories_are_notifications() -> None:
    (invocation,) = run_of(STANDARD["unknown"])["invocations"]
    assert [told["level"] for told in invocation["toolExecutionNotifications"]] == ["warning"] * 2
    (invocation,) = run_of(STANDARD["mixed"])["invocations"]
    assert [told["level"] for told in invocation["toolExecutionNotifications"]] == ["note"]
