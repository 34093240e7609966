"""What is said about sources: whole pages, and the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from opcheck.errors import UsageError
from opcheck.model.report import Report
from opcheck.report.base import PLAIN, Format, Page, format_named
from opcheck.report.json_format import JsonFormat
from opcheck.report.text import TextFormat
from tests.report import snapshots
from tests.report.lints import LINTS
from tests.report.test_formats import LISTING, PAGES
from tests.report.test_json import schema

SCHEMA = schema("lint")


@pytest.mark.parametrize("sample", LINTS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers(name: str, sample: str) -> None:
    text = format_named(name).render_lint(LINTS[sample])
    snapshots.check(f"{name}/lint/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    text = TextFormat().render_lint(LINTS["src"], PAGES[page])
    snapshots.check(f"text/lint/src-{page}.txt", text)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_page_but_for_one_word(width: int) -> None:
    text = TextFormat().render_lint(LINTS["src"], Page(width))
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    assert all(len(line.split()) <= 2 for line in wide)


def test_control_characters_are_spelled_out() -> None:
    assert "\x1b" not in TextFormat().render_lint(LINTS["src"], Page(verbose=True))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", LINTS)
def test_documents_are_of_the_schema(sample: str) -> None:
    Draft202012Validator(SCHEMA).validate(json.loads(JsonFormat().render_lint(LINTS[sample])))


def test_a_format_made_for_reports_alone_declines() -> None:
    class Lines(Format):
        name = "lines"

        def render(self, report: Report, page: Page = PLAIN) -> str:
            return ""

    with pytest.raises(UsageError, match="opcheck lint cannot write it"):
        Lines().render_lint(LINTS["src"])
