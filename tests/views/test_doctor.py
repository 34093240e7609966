"""What is said about environments: whole pages, and the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator

from opcheck.errors import UsageError
from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.doctors import DOCTORS
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema

SCHEMA = schema("doctor")


@pytest.mark.parametrize("sample", DOCTORS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers(name: str, sample: str) -> None:
    text = command_view("doctor", name).render(DOCTORS[sample])
    snapshots.check(f"{name}/doctor/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    text = command_view("doctor", "text").render(DOCTORS["mismatch"], PAGES[page])
    snapshots.check(f"text/doctor/mismatch-{page}.txt", text)


@pytest.mark.parametrize("width", [40, 80])
def test_commands_are_never_broken(width: int) -> None:
    target = DOCTORS["mismatch"].targets[0]
    assert target.setup is not None
    lines = [line.strip() for line in _page(width).splitlines()]
    commands = [*target.setup.commands, *target.setup.settings]
    assert all(any(line.endswith(command) for line in lines) for command in commands)


def _page(width: int) -> str:
    return command_view("doctor", "text").render(DOCTORS["mismatch"], Page(width))


def test_control_characters_are_spelled_out() -> None:
    assert "\x1b" not in command_view("doctor", "text").render(
        DOCTORS["mismatch"], Page(verbose=True)
    )


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", DOCTORS)
def test_documents_are_of_the_schema(sample: str) -> None:
    Draft202012Validator(SCHEMA).validate(
        json.loads(command_view("doctor", "json").render(DOCTORS[sample]))
    )


def test_a_format_made_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck doctor cannot write it"):
        command_view("doctor", "sarif")
