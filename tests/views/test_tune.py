"""What is said about costs: whole pages, and the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from opcheck.errors import UsageError
from opcheck.views.formats import Page, command_view
from tests.views import snapshots
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema
from tests.views.tunings import TUNINGS

SCHEMA = schema("tune")


@pytest.mark.parametrize("sample", TUNINGS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_answers(name: str, sample: str) -> None:
    snapshots.check(f"{name}/tune/{sample}.txt", command_view("tune", name).render(TUNINGS[sample]))


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    text = command_view("tune", "text").render(TUNINGS["several"], PAGES[page])
    snapshots.check(f"text/tune/several-{page}.txt", text)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_of_code_are_never_broken(width: int) -> None:
    found = TUNINGS["several"]
    lines = [
        line.strip()
        for line in command_view("tune", "text").render(found, Page(width)).splitlines()
    ]
    code = [line for target in found.targets for one in target.advice for line in one.lines]
    assert all(any(line.endswith(each) for line in lines) for each in code)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_figures_of_operators_fit_the_page(width: int) -> None:
    (target,) = TUNINGS["advised"].targets
    long = replace(target.operators[0], op="aten::_scaled_dot_product_efficient_attention_backward")
    found = replace(
        TUNINGS["advised"],
        targets=(replace(target, operators=(long, *target.operators), advice=()),),
    )
    lines = command_view("tune", "text").render(found, Page(width)).splitlines()
    assert all(len(line) <= width or line.strip() == long.op for line in lines)
    figures = next(i for i, line in enumerate(lines) if long.op in line)
    assert "44%" in " ".join(lines[figures : figures + 3])


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", TUNINGS)
def test_documents_are_of_the_schema(sample: str) -> None:
    Draft202012Validator(SCHEMA).validate(
        json.loads(command_view("tune", "json").render(TUNINGS[sample]))
    )


def test_a_format_made_for_reports_alone_declines() -> None:
    with pytest.raises(UsageError, match="opcheck tune cannot write it"):
        command_view("tune", "sarif")
