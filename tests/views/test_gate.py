"""What a gate says: whole pages, and the published schemas."""

import json

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from rich.cells import cell_len

from opcheck.commands.gate.judging.accepted import (
    baseline_document,
    baseline_from_json,
    baseline_of,
    baseline_text,
)
from opcheck.commands.gate.judging.judge import judge
from opcheck.commands.gate.values import Cause, Limit, Standing
from opcheck.errors import UsageError
from opcheck.model.policy import Policy
from opcheck.model.report import Report
from opcheck.model.text import printable
from opcheck.views.formats import Page, command_formats, command_view, report_formats
from tests.commands.gate.made import TODAY
from tests.commands.gate.test_properties import policies
from tests.views import snapshots
from tests.views.gates import GATES
from tests.views.strategies import reports
from tests.views.test_formats import PAGES
from tests.views.test_json import schema

FORMATS = command_formats("gate")
SCHEMA, BASELINE = schema("gate"), schema("baseline")


@pytest.mark.parametrize("sample", GATES)
@pytest.mark.parametrize("name", FORMATS)
def test_standard_answers(name: str, sample: str) -> None:
    snapshots.check(f"{name}/gate/{sample}.txt", command_view("gate", name).render(GATES[sample]))


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    text = command_view("gate", "text").render(GATES["failing"], replace(PAGES[page], waived=True))
    snapshots.check(f"text/gate/failing-{page}.txt", text)


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("sample", GATES)
def test_no_line_is_wider_than_the_page_but_for_one_word(width: int, sample: str) -> None:
    text = command_view("gate", "text").render(GATES[sample], Page(width, waived=True))
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    assert all(len(line.split()) <= 2 for line in wide)


def test_control_characters_are_spelled_out() -> None:
    assert "\x1b" not in command_view("gate", "text").render(GATES["unseen"], Page(verbose=True))


def test_every_format_but_the_web_page_writes_the_answer() -> None:
    assert {*report_formats()} - {*FORMATS} == {"html"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "text"])
@settings(max_examples=10, deadline=None)
@given(reports, reports, policies)
def test_formats_for_machines_are_printable_and_the_same_on_every_page(
    name: str, report: Report, base: Report, policy: Policy
) -> None:
    found = replace(judge(report, policy, None, TODAY, base), against="base.json")
    text = command_view("gate", name).render(found, Page(waived=True))
    assert printable(text, kept="\n") == text
    assert text == command_view("gate", name).render(found, Page(120, color=True, waived=True))


def test_the_schemas_are_schemas() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator.check_schema(BASELINE)


@pytest.mark.parametrize("sample", GATES)
def test_answers_follow_the_schema(sample: str) -> None:
    Draft202012Validator(SCHEMA).validate(
        json.loads(command_view("gate", "json").render(GATES[sample]))
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(reports, policies)
def test_any_answer_follows_the_schema(report: Report, policy: Policy) -> None:
    found = judge(report, policy, None, TODAY)
    Draft202012Validator(SCHEMA).validate(json.loads(command_view("gate", "json").render(found)))
    Draft202012Validator(BASELINE).validate(baseline_document(baseline_of(found)))


def test_the_schemas_share_their_parts_with_that_of_reports() -> None:
    shared = schema()["$defs"]
    for own in (SCHEMA["$defs"], BASELINE["$defs"]):
        for name in ("verdict", "phase", "reason", "model", "evidence"):
            assert own.get(name, shared[name]) == shared[name]
    finding = SCHEMA["$defs"]["finding"]["properties"]
    assert finding["standing"]["enum"] == [standing.value for standing in Standing]
    assert finding["cause"]["enum"] == [cause.value for cause in Cause]
    limit = SCHEMA["$defs"]["limit"]["properties"]["limit"]
    assert limit["enum"] == [limit.value for limit in Limit]


def test_what_is_waived_is_in_the_document_unasked() -> None:
    found = GATES["failing"]
    assert command_view("gate", "json").render(found) == command_view("gate", "json").render(
        found, Page(waived=True)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "opcheck.report/1"}, "b.json.schema: expected 'opcheck.baseline/1'"),
        ({"targets": {}}, "b.json.targets: expected an array"),
        ({"targets": [{"target": "x"}]}, "b.json.targets[0]: the key 'support_rate' is missing"),
    ],
)
def test_what_is_no_baseline(change: dict[str, object], message: str) -> None:
    accepted = GATES["accepting"].accepted
    assert accepted is not None
    text = baseline_text(accepted)
    assert replace(baseline_from_json(text, "b.json"), path="") == accepted
    with pytest.raises(UsageError) as raised:
        baseline_from_json(json.dumps({**json.loads(text), **change}), "b.json")
    assert raised.value.message.startswith(message)


def test_a_format_made_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck gate cannot write it"):
        command_view("gate", "html")
