"""A project's answer in every format, read as others read it."""

import csv
import io
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from junitparser import JUnitXml
from msgspec.structs import replace
from referencing import Registry, Resource

from opcheck.commands.gate.project.answer import judged_by
from opcheck.commands.scan.project.views.csv import COLUMNS
from opcheck.errors import ExitCode, UsageError
from opcheck.model.policy import Policy
from opcheck.views.formats import Page, command_formats, command_view
from opcheck.views.markdown_text import LIMIT, size
from opcheck.views.project.document import project_from_json
from opcheck.views.project.sentences import line_of
from tests.commands.gate.made import finding, report
from tests.views.projects import (
    CODES,
    LACKING,
    POLICY,
    PROJECT_GATES,
    PROJECTS,
    failing,
    result,
)
from tests.views.test_json import SCHEMAS
from tests.views.test_sarif import VALIDATOR

_REGISTRY: Any = Registry()
for _path in SCHEMAS.glob("*.json"):
    _content = json.loads(_path.read_text("utf-8"))
    _REGISTRY = _REGISTRY.with_resource(_content["$id"], Resource.from_contents(_content))


def written(command: str, name: str, found: object, page: Page | None = None) -> str:
    return command_view(command, name).render(found, page or Page())


def valid(name: str, document: Any) -> bool:
    schema = json.loads((SCHEMAS / f"opcheck.{name}-1.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, registry=_REGISTRY).is_valid(document)


def test_the_formats_are_these() -> None:
    assert command_formats("scan.project") == (
        "csv", "json", "junit", "markdown", "sarif", "text",
    )  # fmt: skip
    assert command_formats("gate.project") == (
        "github", "gitlab", "json", "junit", "markdown", "sarif", "text",
    )  # fmt: skip


def test_a_format_of_reports_alone_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError) as raised:
        command_view("scan.project", "html")
    assert raised.value.message == "the format 'html' is for reports; opcheck scan cannot write it"
    assert raised.value.hint == "it writes csv, json, junit, markdown, sarif, text"


@pytest.mark.parametrize("sample", PROJECTS)
def test_documents_follow_their_schemas_and_are_read_again(sample: str) -> None:
    text = written("scan.project", "json", PROJECTS[sample])
    document = json.loads(text)
    assert valid("project", document)
    assert not valid("project", {**document, "surprise": 1})
    again = project_from_json(text, "project.json")
    assert written("scan.project", "json", again) == text
    gate = json.loads(written("gate.project", "json", PROJECT_GATES[sample]))
    assert valid("project-gate", gate)
    assert gate["exit_code"] == CODES[sample]


def test_text_has_a_line_for_each_source_and_target_and_what_has_none() -> None:
    assert (
        written("scan.project", "text", PROJECTS["mixed"])
        == """\
.: 1 of 8 sources run on every target; 6 not checked
  found by reading its files; opcheck init lists them for you to change

a.py:good
  ✔ ascend-910b@26.1.0+torch2.12 decomposed
b.py:bad
  ✘ ascend-910b@26.1.0+torch2.12 unsupported · 4 operators unsupported, first
    aten::new at model.py:3

Not checked · no answer on these sources
  c.py:gone: c.py: no such file
    check the path
  train.py: the script failed

Found · and not to be checked as they are
  model.py:GPT: needs arguments: config
    write a function without arguments and list it: def build(): return
    GPT(GPTConfig())
  model.py:Other: needs arguments: a, b
    write a function without arguments that passes them, and list that
  model.py:Pair: needs inputs: its forward takes left, right
    list it under sources in opcheck.yaml: - {source: "model.py:Pair", input:
    ["left=SHAPE:DTYPE", "right=SHAPE:DTYPE"]}
  my train.py: needs arguments on its command line: --root, out
    list it under sources in opcheck.yaml: - {script: "'my train.py' --root
    VALUE OUT", steps: 2}

Notes · what was left out
  w.pt holds weights alone

opcheck 0.1.0
"""
    )


def test_the_lines_to_add_are_yaml_that_lists_a_source() -> None:
    assert [line_of(one) for one in LACKING] == [
        '- "model.py:GPT"',
        '- "model.py:Other"',
        '- {source: "model.py:Pair", input: ["left=SHAPE:DTYPE", "right=SHAPE:DTYPE"]}',
        "- {script: \"'my train.py' --root VALUE OUT\", steps: 2}",
    ]


def test_of_many_targets_the_worst_come_first_and_the_rest_is_counted() -> None:
    text = written("scan.project", "text", PROJECTS["many"])
    lines = text.splitlines()
    assert lines[3:6] == [
        "m0.py:net",
        "  ✘ ascend-910b@14.0+torch2.12 unsupported · 4 operators unsupported, first",
        "    aten::new at model.py:3",
    ]
    assert "    and 3 more targets" in lines
    assert written("scan.project", "text", PROJECTS["many"], Page(verbose=True)).count("@0.0") > 9


def test_quiet_text_of_a_scan_has_a_line_for_each_answer_and_each_failure() -> None:
    assert (
        written("scan.project", "text", PROJECTS["mixed"], Page(quiet=True, width=100))
        == """\
a.py:good
  ✔ ascend-910b@26.1.0+torch2.12 decomposed
b.py:bad
  ✘ ascend-910b@26.1.0+torch2.12 unsupported · 4 operators unsupported, first aten::new at
    model.py:3
✘ c.py:gone: c.py: no such file
✘ train.py: the script failed
✘ model.py:GPT: needs arguments: config
✘ model.py:Other: needs arguments: a, b
✘ model.py:Pair: needs inputs: its forward takes left, right
✘ my train.py: needs arguments on its command line: --root, out
"""
    )


def test_quiet_text_of_a_gate_is_its_decision() -> None:
    text = written("gate.project", "text", PROJECT_GATES["mixed"], Page(quiet=True))
    assert (
        text
        == """\
✘ . fails the gate
  1 pass, 1 fail, 6 cannot be judged
  hidden: 0 waived, 0 in the baseline, 0 unchanged, 0 less sure than the policy
  asks, 0 allowed
"""
    )


def test_a_gate_shows_the_sources_that_fail_in_full() -> None:
    text = written("gate.project", "text", PROJECT_GATES["mixed"])
    assert "✘ b.py:bad\n  ✘ ascend-910b@26.1.0+torch2.12: fails by 2 findings\n" in text
    assert text.count("✘ fails the gate: ") == 1
    assert "aten::new · unsupported" in text


def test_what_cannot_be_judged_does_not_pass() -> None:
    found = PROJECTS["mixed"]
    for sources, lacking in (
        (found.sources[:1], LACKING[:1]),
        ((found.sources[0], found.sources[2]), ()),
        ((found.sources[0], found.sources[3]), ()),
        ((), ()),
    ):
        gate = judged_by(replace(found, sources=sources, lacking=lacking), POLICY)
        assert (gate.passed, gate.exit_code) == (False, ExitCode.MODEL)
    assert judged_by(replace(found, sources=found.sources[:1], lacking=()), POLICY).passed
    text = written(
        "gate.project", "text", judged_by(replace(found, sources=(), lacking=()), POLICY)
    )
    assert text.startswith("✘ . cannot be judged as a whole\n")


def test_a_source_that_calls_nothing_cannot_be_judged() -> None:
    empty = report()
    empty = replace(empty, trace=replace(empty.trace, calls=0))
    found = replace(PROJECTS["whole"], sources=(result("a.py:nothing", empty),))
    (one,) = judged_by(found, POLICY).sources
    assert (one.passed, bool(one.error)) == (None, True)


def test_against_a_base_only_what_is_new_fails_source_by_source() -> None:
    found = PROJECTS["mixed"]
    old = failing(report(finding()))
    before = replace(found, sources=(result("b.py:bad", old), found.sources[3]))
    gate = judged_by(found, POLICY, None, before, "base.json")
    by_name = {one.name: one.result for one in gate.sources if one.result is not None}
    failed = [one.finding.op for one in by_name["b.py:bad"].targets[0].failing]
    assert failed == ["aten::new"]
    assert [str(note) for note in gate.notes] == [
        "base.json has no whole answer on a.py:good, train.py: all that fails there is new"
    ]
    assert "base.json has no whole answer" in written("gate.project", "text", gate)
    assert "base.json" in written("gate.project", "markdown", gate)


@pytest.mark.parametrize("sample", PROJECTS)
def test_a_comment_has_room_and_is_found_again(sample: str) -> None:
    text = written("gate.project", "markdown", PROJECT_GATES[sample])
    assert size(text) <= LIMIT
    assert text.startswith(f"<!-- opcheck gate {PROJECTS[sample].folder} -->\n")
    assert size(written("scan.project", "markdown", PROJECTS[sample])) <= LIMIT


def test_a_comment_on_very_many_sources_is_bounded() -> None:
    bad = failing(report(*(finding(f"aten::op{n}", text="no kernel. " * 30) for n in range(200))))
    sources = tuple(result(f"{'long' * 20}{n}.py:net", bad) for n in range(900))
    found = replace(PROJECTS["mixed"], sources=sources)
    text = written("gate.project", "markdown", judged_by(found, Policy()))
    assert size(text) <= LIMIT
    assert "more sources" in text
    assert "more rows" in text
    assert size(written("scan.project", "markdown", found)) <= LIMIT


@pytest.mark.parametrize("sample", PROJECTS)
def test_junit_has_a_suite_for_each_source_and_target(sample: str) -> None:
    found = PROJECTS[sample]
    targets = sum(len(one.report.targets) for one in found.sources if one.report is not None)
    unanswered = bool(found.lacking)
    for command, answer in (("scan", found), ("gate", PROJECT_GATES[sample])):
        xml = JUnitXml.fromstring(written(f"{command}.project", "junit", answer).encode())
        assert len([*xml]) == targets + unanswered
    if unanswered:
        assert xml.errors == 6


@pytest.mark.parametrize("sample", PROJECTS)
def test_sarif_has_a_run_of_its_own_category_for_each_source(sample: str) -> None:
    for command, answer in (("scan", PROJECTS[sample]), ("gate", PROJECT_GATES[sample])):
        log = json.loads(written(f"{command}.project", "sarif", answer))
        VALIDATOR.validate(log)
        assert len(log["runs"]) == len([o for o in PROJECTS[sample].sources if o.report])


def test_rows_of_the_table_tell_what_is_first_in_the_way() -> None:
    text = written("scan.project", "csv", PROJECTS["mixed"])
    rows = [*csv.DictReader(io.StringIO(text))]
    assert tuple(rows[0]) == COLUMNS
    told = {row["source"]: (row["verdict"], row["operator"], row["error"]) for row in rows}
    assert told["a.py:good"] == ("decomposed", "", "")
    assert told["b.py:bad"] == ("unsupported", "aten::new", "")
    assert told["c.py:gone"] == ("", "", "c.py: no such file")
    assert told["model.py:Pair"] == ("", "", "needs inputs: its forward takes left, right")


def test_annotations_and_code_quality_have_every_source() -> None:
    text = written("gate.project", "github", PROJECT_GATES["mixed"])
    assert text.splitlines()[0].startswith("::error title=opcheck gate::. fails the gate: 1 pass")
    assert "::error title=opcheck gate::c.py:gone: c.py: no such file" in text.splitlines()
    issues = json.loads(written("gate.project", "gitlab", PROJECT_GATES["many"]))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
