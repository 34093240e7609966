"""What is said of inputs padded to few sizes: whole pages, and the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.paddings import PADDINGS
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema


@pytest.mark.parametrize("sample", PADDINGS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers(name: str, sample: str) -> None:
    text = command_view("fix", name).render(PADDINGS[sample])
    snapshots.check(f"{name}/fix/padding-{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    for sample in ("written", "failed"):
        snapshots.check(
            f"text/fix/padding-{sample}-{page}.txt",
            command_view("fix", "text").render(PADDINGS[sample], PAGES[page]),
        )


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", PADDINGS)
def test_a_page_is_as_wide_as_it_may_be(width: int, sample: str) -> None:
    text = command_view("fix", "text").render(PADDINGS[sample], Page(width))
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("sample", PADDINGS)
def test_answers_follow_the_schema(sample: str) -> None:
    found = schema("padding")
    Draft202012Validator.check_schema(found)
    Draft202012Validator(found).validate(
        json.loads(command_view("fix", "json").render(PADDINGS[sample]))
    )
    assert found["$defs"] == {name: schema()["$defs"][name] for name in found["$defs"]}
