"""What is said of plans and rules: whole pages, and the published schemas."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from rich.cells import cell_len

from opcheck.commands.rules.answer import Checked
from opcheck.lang.sentence import NOTHING
from opcheck.model.plan import Difference, Measured
from opcheck.model.report import Finding
from opcheck.views.document.plan import read_suggestion, suggestion_value
from opcheck.views.document.reading import Node
from opcheck.views.document.report import from_json
from opcheck.views.formats import Page, command_view, report_view
from tests.views import snapshots
from tests.views.plans import CHECKS, FAR, PLANS, RULES
from tests.views.test_formats import LISTING, PAGES
from tests.views.test_json import schema


@pytest.mark.parametrize("sample", PLANS)
def test_standard_plans(sample: str) -> None:
    snapshots.check(f"text/plan/{sample}.txt", report_view("text").render(PLANS[sample]))


@pytest.mark.parametrize("page", PAGES)
def test_plan_pages(page: str) -> None:
    text = report_view("text").render(PLANS["swap"], PAGES[page])
    snapshots.check(f"text/plan/swap-{page}.txt", text)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", ["nothing", "structural"])  # no name is longer than a line
def test_a_page_is_as_wide_as_it_may_be(width: int, sample: str) -> None:
    text = report_view("text").render(PLANS[sample], Page(width))
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 120])
def test_the_steps_name_as_many_operators_as_a_line_has_room_for(width: int) -> None:
    (target,) = PLANS["swap"].targets
    assert target.plan is not None
    ops = ("aten::im2col", "aten::log1p", "aten::std.dim", "aten::upsample_bicubic2d.vec")
    first, *others = target.plan.tiers
    steps = replace(target.plan, tiers=(replace(first, operators=ops), *others))
    text = report_view("text").render(
        replace(PLANS["swap"], targets=(replace(target, plan=steps),)), Page(width)
    )
    (row,) = (line for line in text.splitlines() if "im2col" in line)
    told = "im2col" + (
        " and 3 more operators" if width == 80 else ", log1p, std.dim, upsample_bicubic2d.vec"
    )
    assert row.rstrip().endswith(told)
    assert cell_len(row.rstrip()) <= width


@pytest.mark.parametrize("sample", PLANS)
def test_a_plan_is_a_report_and_comes_back_whole(sample: str) -> None:
    text = report_view("json").render(PLANS[sample])
    Draft202012Validator(schema()).validate(json.loads(text))
    assert report_view("json").render(from_json(text)) == text
    assert [target.plan for target in from_json(text).targets] == [
        target.plan for target in PLANS[sample].targets
    ]


def test_a_distance_beyond_all_numbers_is_null_and_comes_back() -> None:
    bad = PLANS["swap"].targets[0].findings
    way = replace(next(f for f in bad if f.suggestions).suggestions[0], measured=FAR)
    value: Any = suggestion_value(way)
    assert value["measured"]["forward"] == {"absolute": None, "relative": None}
    assert read_suggestion(Node(value, "way", NOTHING)) == way


def test_a_way_that_is_off_in_one_direction_alone_says_in_which() -> None:
    plan = PLANS["harmed"]
    exact, off = Difference(0.0, 0.0), Difference(1e-7, 2e-7)

    def said(forward: Difference, backward: Difference) -> str:
        def measured(finding: Finding) -> Finding:
            (way,) = finding.suggestions
            found = Measured(("self: float32[2]",), forward, backward)
            return replace(finding, suggestions=(replace(way, measured=found),))

        targets = tuple(
            replace(one, findings=tuple(map(measured, one.findings))) for one in plan.targets
        )
        changed = replace(plan, targets=targets)
        return " ".join(report_view("text").render(changed, Page(verbose=True)).split())

    assert "backward 2.0e-07 of the largest value, forward equal" in said(exact, off)
    assert "forward 2.0e-07 of the largest value, backward equal" in said(off, exact)


@pytest.mark.parametrize("name", LISTING)
@pytest.mark.parametrize("count", [1, 2])
def test_standard_rules(name: str, count: int) -> None:
    text = command_view("rules", name).render(RULES[:count])
    snapshots.check(f"{name}/rules-{count}.txt", text)


@pytest.mark.parametrize("name", LISTING)
def test_standard_trials(name: str) -> None:
    snapshots.check(f"{name}/rule-checks.txt", command_view("rules", name).render(Checked(CHECKS)))


def test_trials_follow_the_schema() -> None:
    found = schema("rule-check")
    Draft202012Validator.check_schema(found)
    Draft202012Validator(found).validate(
        json.loads(command_view("rules", "json").render(Checked(CHECKS)))
    )


def test_rules_follow_the_schema() -> None:
    found = schema("rules")
    Draft202012Validator.check_schema(found)
    Draft202012Validator(found).validate(json.loads(command_view("rules", "json").render(RULES)))
