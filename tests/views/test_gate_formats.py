"""What other programs are told of a gate, read as they read it."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from junitparser import JUnitXml, TestSuite
from markdown_it import MarkdownIt
from msgspec.structs import replace

from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.values import GateResult, Standing
from opcheck.commands.gate.views.csv import COLUMNS
from opcheck.model.policy import Baseline, Policy
from opcheck.model.report import Report
from opcheck.views.formats import command_view
from opcheck.views.markdown_text import LIMIT, size
from tests.commands.gate.made import TODAY, finding, report, waiver
from tests.commands.gate.test_properties import policies
from tests.views.gates import GATES
from tests.views.hostile import TEXTS, report_saying
from tests.views.strategies import reports
from tests.views.test_annotations import COMMAND, _decoded
from tests.views.test_sarif import VALIDATOR, moved

LEVELS = {"fails": "error", "unchanged": "warning"}


def written(name: str, found: GateResult) -> str:
    return command_view("gate", name).render(found)


def run_of(found: GateResult) -> Any:
    log = json.loads(written("sarif", found))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    return run


def check_sarif(found: GateResult) -> None:
    run = run_of(found)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    told = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        standing = result["properties"]["standing"]
        assert result["level"] == LEVELS.get(standing, "note")
        assert bool(result["suppressions"]) is (standing in ("waived", "baselined"))
        told.append(standing)
    for standing in Standing:
        limits = {
            Standing.FAILS: sum(len(target.broken) for target in found.targets),
            Standing.BASELINED: found.baselined_limits,
            Standing.UNCHANGED: found.unchanged_limits,
        }.get(standing, 0)
        assert told.count(standing.value) == found.standings[standing] + limits


@pytest.mark.parametrize("sample", GATES)
def test_code_scanning_has_every_finding_with_its_standing(sample: str) -> None:
    check_sarif(GATES[sample])


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(reports, reports, policies)
def test_any_answer_follows_sarif_s_schema(one: Report, base: Report, policy: Policy) -> None:
    check_sarif(replace(judge(one, policy, None, TODAY, base), against="base.json"))


def test_a_suppression_says_who_accepts_and_until_when() -> None:
    until = TODAY + timedelta(30)
    policy = Policy(waivers=(waiver("aten::view*", reason="rewritten soon", expires=until),))
    (result,) = run_of(judge(report(finding()), policy, None, TODAY))["results"]
    assert result["suppressions"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": f"waived: rewritten soon (until {until})",
        }
    ]


def test_fingerprints_of_a_gate_stay_when_lines_move() -> None:
    prints = [
        [one["partialFingerprints"] for one in run_of(judge(it, Policy(), None, TODAY))["results"]]
        for it in (report(finding()), moved(report(finding())))
    ]
    assert prints[0] == prints[1] != []


def commands(found: GateResult) -> list[tuple[str, str, str]]:
    told = []
    for text in written("github", found).splitlines():
        line = COMMAND.fullmatch(text)
        assert line is not None, text
        properties = dict(pair.split("=") for pair in line["properties"].split(","))
        told.append((line["name"], _decoded(properties["title"]), _decoded(line["message"])))
    return told


@pytest.mark.parametrize("sample", GATES)
def test_github_is_told_first_whether_it_passes(sample: str) -> None:
    found = GATES[sample]
    first, *rest = commands(found)
    assert first[:2] == ("notice" if found.passed else "error", "opcheck gate")
    assert ("hidden: ") in first[2]
    failing = [line for line in rest if line[0] == "error"]
    assert bool(failing) is not found.passed


def test_what_is_new_says_so() -> None:
    titles = [title for _, title, _ in commands(GATES["compared"])]
    assert titles == ["opcheck gate", "new: aten::new: unsupported"]


def test_one_that_fails_on_several_targets_is_one_annotation() -> None:
    one, two = (
        report(finding(), target=f"ascend-{chip}@26.1.0+torch2.12") for chip in ("910a", "310p")
    )
    both = replace(one, targets=(*one.targets, *two.targets))
    *_, (_, _, message) = told = commands(judge(both, Policy(), None, TODAY))
    assert len(told) == 2
    assert "ascend-910a@26.1.0+torch2.12, ascend-310p@26.1.0+torch2.12: It takes" in message


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["github", "gitlab", "junit", "sarif", "markdown", "csv"])
def test_no_text_does_anything(name: str, text: str) -> None:
    found = judge(report_saying(text), Policy(fail_reasons=("*",)), None, TODAY)
    shown = written(name, found)
    assert "\x1b" not in shown
    if name == "github":
        assert all(COMMAND.fullmatch(line) for line in shown.splitlines())
    if name == "sarif":
        check_sarif(found)
    if name == "junit":
        JUnitXml.fromstring(shown.encode())
    if name == "markdown":
        first, rest = shown.split("\n", 1)
        assert first.startswith("<!-- opcheck gate ") and first.endswith(" -->")
        assert first.count("-->") == first.count("<!--") == 1
        assert "<script>" not in MarkdownIt("commonmark").render(rest)
        assert size(shown) <= LIMIT


def test_gitlab_lists_what_fails_and_what_is_unchanged_and_counts_the_rest() -> None:
    listed = json.loads(written("gitlab", GATES["compared"]))
    assert [(one["check_name"], one["severity"]) for one in listed] == [
        ("opcheck/min-support-rate", "minor"),
        ("opcheck/unsupported/no-kernel", "critical"),
        ("opcheck/unsupported/dtype-not-supported", "minor"),
    ]
    assert len({one["fingerprint"] for one in listed}) == len(listed)
    hiding = judge(report(finding()), Policy(waivers=(waiver("aten::*"),)), None, TODAY)
    (info,) = json.loads(written("gitlab", hiding))
    assert info["severity"] == "info"
    assert "1 waived" in info["description"]


@pytest.mark.parametrize("sample", GATES)
def test_a_suite_fails_where_its_target_does(sample: str) -> None:
    xml = JUnitXml.fromstring(written("junit", GATES[sample]).encode())
    suites = list(xml)
    assert len(suites) == len(GATES[sample].targets)
    for suite, target in zip(suites, GATES[sample].targets, strict=True):
        assert isinstance(suite, TestSuite)
        assert suite.failures == len(target.failing) + len(target.broken)
        assert suite.errors == 0
        excused = len(target.breaches) - len(target.broken)
        assert suite.skipped == len(target.judged) - len(target.failing) + excused
        assert suite.tests == len(list(suite)) > 0


def test_a_table_has_every_finding_with_its_standing() -> None:
    for found in GATES.values():
        header, *rows = csv.reader(io.StringIO(written("csv", found)))
        assert tuple(header) == COLUMNS
        assert all(len(row) == len(COLUMNS) for row in rows)
        ids = {(row[0], row[1], row[-1]) for row in rows if row[-1]}
        assert ids == {
            (target.target, one.standing.value, one.finding.id)
            for target in found.targets
            for one in target.judged
        }


def test_the_comment_s_first_line_is_the_model_s_own() -> None:
    """By it a bot finds the comment that it wrote before, whatever the answer was then."""
    net, other = report(finding()), report()
    named = [replace(one, model=replace(one.model, source="net.py:net")) for one in (net, other)]
    firsts = [written("markdown", judge(one, Policy(), None, TODAY)).split("\n")[0]
              for one in (*named, other)]  # fmt: skip
    assert firsts[0] == firsts[1] == "<!-- opcheck gate net.py:net -->"
    assert firsts[2] != firsts[0]


def test_a_comment_has_an_end() -> None:
    many = [finding(f"aten::op{i}", text="Why it does not run. " * 9) for i in range(900)]
    text = written("markdown", judge(report(*many), Policy(), None, TODAY))
    assert size(text) <= LIMIT
    shown = text.count("· unsupported ·")
    assert f"and {900 - shown:,} more" in text


@pytest.mark.parametrize(
    ("targets", "more"),
    [(2, "and 1 more target that fails too\n"), (3, "and 2 more targets that fail too\n")],
)
def test_targets_that_have_no_room_are_counted(targets: int, more: str) -> None:
    many = tuple(finding(f"aten::op{i}", text="Why it does not run. " * 9) for i in range(900))
    first = report(*many)
    others = [report(finding(), target=f"ascend-310p@26.{n}.0+torch2.12") for n in range(targets)]
    both = replace(first, targets=(*first.targets, *(one.targets[0] for one in others[1:])))
    text = written("markdown", judge(both, Policy(), None, TODAY))
    assert size(text) <= LIMIT
    assert text.count("<details") == 1
    assert more in text


def test_what_was_accepted_before_is_named() -> None:
    had = GATES["accepting"].accepted
    assert had is not None
    known = Baseline(had.opcheck_version, had.targets, "accepted.json")
    found = judge(GATES["accepting"].report, Policy(), known, TODAY)
    told = [one["suppressions"] for one in run_of(found)["results"] if one["suppressions"]]
    assert told
    assert {one[0]["justification"] for one in told} == {"in the baseline accepted.json"}
