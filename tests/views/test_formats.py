"""Every format, whole, over the standard reports."""

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from opcheck.errors import ExitCode, UsageError
from opcheck.model.report import Report
from opcheck.model.text import printable
from opcheck.views.formats import Page, command_formats, command_view, report_formats, report_view
from tests.views import snapshots
from tests.views.databases import VIEWS
from tests.views.emulations import EMULATIONS
from tests.views.gates import GATES
from tests.views.plans import PLANS
from tests.views.samples import EXPLAINED, ROWS, STANDARD
from tests.views.strategies import reports

FORMATS = report_formats()
LISTING = command_formats("targets")
ALONE = [name for name in FORMATS if name not in LISTING]
PARTS = ["html"]
"""Those tested by parts: a web page is mostly its own script."""
KEPT = [
    (name, sample)
    for name in FORMATS
    for sample in STANDARD
    if name not in PARTS and (name in LISTING or sample != "many")
]
"""Reports kept whole; hundreds of findings show nothing more where each is written by itself."""

PAGES = {
    "wide": Page(width=120),
    "ascii": Page(ascii=True),
    "color": Page(color=True),
    "verbose": Page(width=100, verbose=True),
    "narrow": Page(width=40),
}
DETAILED = {
    "quiet": Page(quiet=True),
    "explain": Page(explain=True),
    "top": Page(top=1),
}


def test_formats_are_found() -> None:
    assert ALONE == ["csv", "github", "gitlab", "html", "junit", "markdown", "sarif"]
    assert LISTING == ("json", "text")


@pytest.mark.parametrize(("name", "sample"), KEPT)
def test_standard_reports(name: str, sample: str) -> None:
    snapshots.check(f"{name}/{sample}.txt", report_view(name).render(STANDARD[sample]))


@pytest.mark.parametrize("name", [name for name in ALONE if name not in PARTS])
def test_a_plan_in_formats_for_reports_alone(name: str) -> None:
    text = report_view(name).render(PLANS["swap"])
    snapshots.check(f"{name}/plan.txt", text)


@pytest.mark.parametrize("sample", STANDARD)
@pytest.mark.parametrize("name", FORMATS)
def test_the_order_that_findings_were_given_in_does_not_matter(name: str, sample: str) -> None:
    report = STANDARD[sample]
    turned = tuple(replace(one, findings=one.findings[::-1]) for one in report.targets)
    view = report_view(name)
    assert view.render(replace(report, targets=turned)) == view.render(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
@settings(max_examples=60, deadline=None)
@given(reports)
def test_formats_for_machines_are_printable_and_the_same_on_every_page(
    name: str, report: Report
) -> None:
    text = report_view(name).render(report)
    assert printable(text, kept="\n") == text
    assert text == report_view(name).render(report, Page(120, color=True, verbose=True))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("sample", ["mixed", "three-targets", "unknown", "alike"])
def test_text_pages(sample: str, page: str) -> None:
    text = report_view("text").render(STANDARD[sample], PAGES[page])
    snapshots.check(f"text/{sample}-{page}.txt", text)


@pytest.mark.parametrize("page", DETAILED)
def test_text_pages_of_more_and_less_detail(page: str) -> None:
    view, emulation = report_view("text"), command_view("emulate", "text")
    for name, text in {
        "mixed": view.render(STANDARD["mixed"], DETAILED[page]),
        "three-targets": view.render(STANDARD["three-targets"], DETAILED[page]),
        "plan/swap": view.render(PLANS["swap"], DETAILED[page]),
        "gate/failing": command_view("gate", "text").render(GATES["failing"], DETAILED[page]),
        "emulation/mixed": emulation.render(EMULATIONS["mixed"], DETAILED[page]),
    }.items():
        snapshots.check(f"text/{name}-{page}.txt", text)


@pytest.mark.parametrize("sample", EMULATIONS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_emulations(name: str, sample: str) -> None:
    text = command_view("emulate", name).render(EMULATIONS[sample])
    snapshots.check(f"{name}/emulation/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("sample", EMULATIONS)
def test_emulation_pages(sample: str, page: str) -> None:
    text = command_view("emulate", "text").render(EMULATIONS[sample], PAGES[page])
    snapshots.check(f"text/emulation/{sample}-{page}.txt", text)


@pytest.mark.parametrize("name", LISTING)
def test_targets(name: str) -> None:
    snapshots.check(f"{name}/targets.txt", command_view("targets", name).render(ROWS))


@pytest.mark.parametrize("name", LISTING)
def test_explanations(name: str) -> None:
    snapshots.check(f"{name}/explain.txt", command_view("explain", name).render(EXPLAINED))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", LISTING)
def test_databases(name: str, view: str) -> None:
    text = command_view("db", name).render(VIEWS[view])
    snapshots.check(f"{name}/database/{view}.txt", text)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_database_pages(view: str, page: str) -> None:
    text = command_view("db", "text").render(VIEWS[view], PAGES[page])
    snapshots.check(f"text/database/{view}-{page}.txt", text)


def test_nothing_to_list_is_said() -> None:
    assert command_view("targets", "text").render(()) == "The database has no targets.\n"
    assert command_view("explain", "text").render(()) == "There is nothing to explain.\n"


@pytest.mark.parametrize("command", ["targets", "emulate", "explain", "db"])
@pytest.mark.parametrize("name", ALONE)
def test_a_format_for_reports_alone_declines_the_rest(name: str, command: str) -> None:
    with pytest.raises(UsageError, match=f"the format {name!r} is for reports; opcheck {command} "):
        command_view(command, name)


def test_unknown_format_names_the_known() -> None:
    with pytest.raises(UsageError) as caught:
        report_view("xml")
    assert (caught.value.message, caught.value.hint, caught.value.exit_code) == (
        "unknown format: 'xml'",
        "known formats: csv, github, gitlab, html, json, junit, markdown, sarif, text",
        ExitCode.USAGE,
    )
