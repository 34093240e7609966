"""What is said of a fleet as a whole: whole pages, rows, and the published schemas."""

import csv
import io
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from opcheck.commands.fleet.answers.values import Because, Change, Goal, Standing
from opcheck.commands.fleet.values import Cause, Ending
from opcheck.errors import UsageError
from opcheck.lang.speech import Language, speaking
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.formats import Page, command_formats, command_view
from tests.views import snapshots
from tests.views.fleets import FLEETS
from tests.views.test_json import schema

NAMES = command_formats("fleet")
SCHEMAS = {kind: schema(f"fleet-{kind}") for kind in ("summary", "missing", "diff", "answers")}


def document(sample: str) -> Any:
    return json.loads(command_view("fleet", "json").render(FLEETS[sample]))


def schema_of(sample: str) -> Any:
    return SCHEMAS[sample.partition("-")[0]]


def test_people_and_programs_can_read_it() -> None:
    assert {"csv", "json", "text"} <= set(NAMES)


@pytest.mark.parametrize("sample", FLEETS)
@pytest.mark.parametrize("name", NAMES)
def test_standard_answers(name: str, sample: str) -> None:
    text = command_view("fleet", name).render(FLEETS[sample])
    snapshots.check(f"{name}/fleet/{sample}.txt", text)


@pytest.mark.parametrize("sample", ["summary", "missing", "missing-many", "diff", "answers"])
def test_answers_in_full_and_in_chinese(sample: str) -> None:
    full = command_view("fleet", "text").render(FLEETS[sample], Page(120, verbose=True))
    snapshots.check(f"text/fleet/{sample}-verbose.txt", full)
    with speaking(Language.CHINESE):
        snapshots.check(
            f"text/fleet/{sample}-zh.txt", command_view("fleet", "text").render(FLEETS[sample])
        )


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("sample", FLEETS)
def test_a_page_is_as_wide_as_it_may_be(width: int, sample: str) -> None:
    for language in Language:
        with speaking(language):
            text = command_view("fleet", "text").render(FLEETS[sample], Page(width))
        assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("sample", FLEETS)
def test_answers_follow_their_schema(sample: str) -> None:
    Draft202012Validator.check_schema(schema_of(sample))
    Draft202012Validator(schema_of(sample)).validate(document(sample))


@pytest.mark.parametrize("sample", ["summary", "missing", "missing-many", "diff", "answers"])
def test_a_schema_takes_no_other_keys(sample: str) -> None:
    found = document(sample)
    parts = [part for part in _objects(found) if part]
    assert len(parts) > 5
    for part in parts:
        part["later"] = 1
        assert not Draft202012Validator(schema_of(sample)).is_valid(found)
        del part["later"]


def _objects(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [part for item in value for part in _objects(item)]
    if isinstance(value, dict):
        return [value, *(part for item in value.values() for part in _objects(item))]
    return []


def test_schemas_name_what_there_is() -> None:
    summary, missing, diff, answers = (found["$defs"] for found in SCHEMAS.values())
    assert answers["answer"]["properties"]["ending"]["enum"] == [*Ending]
    assert answers["blocker"]["properties"]["verdict"]["enum"] == [*Verdict]
    assert list(summary["tally"]["properties"]["models"]["properties"]) == [*Standing]
    assert list(SCHEMAS["summary"]["properties"]["endings"]["properties"]) == [*Ending]
    assert missing["need"]["properties"]["cause"]["enum"] == [*Cause]
    assert SCHEMAS["missing"]["properties"]["goal"]["enum"] == [*Goal]
    assert diff["changed"]["properties"]["change"]["enum"] == [*Change]
    assert list(diff["changes"]["properties"]["counts"]["properties"]) == [*Change]
    assert diff["changed"]["properties"]["because"]["items"]["enum"] == [*Because]
    assert diff["standing"]["enum"] == [*Standing]
    assert diff["blocker"]["properties"]["verdict"]["enum"] == [*Verdict]
    assert diff["blocker"]["properties"]["confidence"]["enum"] == [*Confidence]


@pytest.mark.parametrize("sample", FLEETS)
def test_every_row_has_a_cell_for_each_column(sample: str) -> None:
    header, *rows = csv.reader(io.StringIO(command_view("fleet", "csv").render(FLEETS[sample])))
    assert len(set(header)) == len(header)
    assert all(len(row) == len(header) for row in rows)


def test_a_format_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck fleet cannot write it"):
        command_view("fleet", "sarif").render(FLEETS["summary"])
