"""What is said about sources: whole pages, and the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from opcheck.errors import UsageError
from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.lints import LINTS
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema

SCHEMA = schema("lint")


@pytest.mark.parametrize("sample", LINTS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers(name: str, sample: str) -> None:
    text = command_view("lint", name).render(LINTS[sample])
    snapshots.check(f"{name}/lint/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    text = command_view("lint", "text").render(LINTS["src"], PAGES[page])
    snapshots.check(f"text/lint/src-{page}.txt", text)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_page_but_for_one_word(width: int) -> None:
    text = command_view("lint", "text").render(LINTS["src"], Page(width))
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    assert all(len(line.split()) <= 2 for line in wide)


def test_control_characters_are_spelled_out() -> None:
    assert "\x1b" not in command_view("lint", "text").render(LINTS["src"], Page(verbose=True))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", LINTS)
def test_documents_are_of_the_schema(sample: str) -> None:
    Draft202012Validator(SCHEMA).validate(
        json.loads(command_view("lint", "json").render(LINTS[sample]))
    )


def test_a_format_made_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck lint cannot write it"):
        command_view("lint", "sarif")
