"""What is said about targets ranked for a model: whole pages, and the published schema."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from opcheck.commands.choose.values import Criterion, Fit, Way
from opcheck.costs.roofline import Limit
from opcheck.errors import UsageError
from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.choosings import CHOOSINGS
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema

SCHEMA = schema("choose")


def document(sample: str) -> Any:
    return json.loads(command_view("choose", "json").render(CHOOSINGS[sample]))


@pytest.mark.parametrize("sample", CHOOSINGS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers(name: str, sample: str) -> None:
    text = command_view("choose", name).render(CHOOSINGS[sample])
    snapshots.check(f"{name}/choose/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    text = command_view("choose", "text").render(CHOOSINGS["many"], PAGES[page])
    snapshots.check(f"text/choose/many-{page}.txt", text)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", CHOOSINGS)
def test_a_page_is_as_wide_as_it_may_be(width: int, sample: str) -> None:
    text = command_view("choose", "text").render(CHOOSINGS[sample], Page(width))
    assert max(map(cell_len, text.splitlines())) <= width
    assert "\x1b" not in text


@pytest.mark.parametrize("sample", CHOOSINGS)
def test_every_place_says_why(sample: str) -> None:
    found = CHOOSINGS[sample].choices
    text = " ".join(command_view("choose", "text").render(CHOOSINGS[sample], Page(200)).split())
    assert all(choice.why and choice.why in text for choice in found)
    assert [choice["why"] for choice in document(sample)["choices"]] == [c.why for c in found]


@pytest.mark.parametrize("sample", CHOOSINGS)
def test_documents_are_of_the_schema(sample: str) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document(sample))


def test_the_schema_takes_no_other_keys() -> None:
    changed = document("many")
    first = changed["choices"][0]
    for part in (changed, first, first["need"], first["products"][0]):
        part["more"] = 1
        assert not Draft202012Validator(SCHEMA).is_valid(changed)
        del part["more"]
    assert Draft202012Validator(SCHEMA).is_valid(changed)


def test_the_schema_has_every_word() -> None:
    choice, product = SCHEMA["$defs"]["choice"]["properties"], SCHEMA["$defs"]["product"]
    assert choice["way"]["enum"] == list(Way)
    assert choice["fit"]["enum"] == list(Fit)
    assert choice["criterion"]["enum"] == [*Criterion, None]
    assert product["properties"]["limit"]["enum"] == list(Limit)


def test_what_is_not_known_is_null() -> None:
    choices = {choice["chip"]: choice for choice in document("many")["choices"]}
    assert (choices["untold"]["seconds"], choices["untold"]["product"]) == (None, None)
    assert choices["nobody"]["takes"] is None
    assert choices["tight"]["products"][0]["fits"] is None


def test_a_format_made_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck choose cannot write it"):
        command_view("choose", "sarif")
