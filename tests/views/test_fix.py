"""What is said of a plan carried out: whole pages, and the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.betters import BETTERS
from tests.views.fixes import FIXES
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema


@pytest.mark.parametrize("sample", FIXES)
@pytest.mark.parametrize("name", LISTING)
def test_standard_fixes(name: str, sample: str) -> None:
    snapshots.check(f"{name}/fix/{sample}.txt", command_view("fix", name).render(FIXES[sample]))


@pytest.mark.parametrize("page", PAGES)
def test_fix_pages(page: str) -> None:
    snapshots.check(
        f"text/fix/proved-{page}.txt",
        command_view("fix", "text").render(FIXES["proved"], PAGES[page]),
    )


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", FIXES)
def test_a_page_is_as_wide_as_it_may_be(width: int, sample: str) -> None:
    text = command_view("fix", "text").render(FIXES[sample], Page(width))
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("sample", FIXES)
def test_fixes_follow_the_schema(sample: str) -> None:
    found = schema("fix")
    Draft202012Validator.check_schema(found)
    Draft202012Validator(found).validate(
        json.loads(command_view("fix", "json").render(FIXES[sample]))
    )


def test_the_schema_shares_its_parts_with_that_of_reports() -> None:
    shared, own = schema()["$defs"], schema("fix")["$defs"]
    assert own == {name: shared[name] for name in own}


@pytest.mark.parametrize("sample", BETTERS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers_of_fused_calls(name: str, sample: str) -> None:
    text = command_view("fix", name).render(BETTERS[sample])
    snapshots.check(f"{name}/fix/better-{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_fused_calls(page: str) -> None:
    snapshots.check(
        f"text/fix/better-written-{page}.txt",
        command_view("fix", "text").render(BETTERS["written"], PAGES[page]),
    )


@pytest.mark.parametrize("sample", BETTERS)
def test_fused_calls_follow_the_schema(sample: str) -> None:
    found = schema("better")
    Draft202012Validator.check_schema(found)
    Draft202012Validator(found).validate(
        json.loads(command_view("fix", "json").render(BETTERS[sample]))
    )
    assert found["$defs"] == {name: schema()["$defs"][name] for name in found["$defs"]}
