"""Every format, whole, over the standard reports."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from opcheck.errors import ExitCode, UsageError
from opcheck.model.report import Report
from opcheck.model.text import printable
from opcheck.report.base import Format, Page, format_named, formats, listing_formats
from tests.report import snapshots
from tests.report.databases import VIEWS
from tests.report.emulations import EMULATIONS
from tests.report.gates import GATES
from tests.report.plans import PLANS
from tests.report.samples import EXPLAINED, ROWS, STANDARD
from tests.report.strategies import reports

FORMATS = [kind.name for kind in formats()]
LISTING = [kind.name for kind in listing_formats()]
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


class _Lines(Format):
    """A format for reports alone."""

    name = "lines"

    def render(self, report: Report, page: Page = Page()) -> str:  # noqa: B008  # frozen
        return "".join(f"{f.op} {f.verdict}\n" for t in report.targets for f in t.findings)


def test_formats_are_found() -> None:
    assert ALONE == ["csv", "github", "gitlab", "html", "junit", "markdown", "sarif"]
    assert LISTING == ["json", "text"]


@pytest.mark.parametrize(("name", "sample"), KEPT)
def test_standard_reports(name: str, sample: str) -> None:
    snapshots.check(f"{name}/{sample}.txt", format_named(name).render(STANDARD[sample]))


@pytest.mark.parametrize("name", [name for name in ALONE if name not in PARTS])
def test_a_plan_in_formats_for_reports_alone(name: str) -> None:
    text = format_named(name).render_plan(PLANS["swap"])
    snapshots.check(f"{name}/plan.txt", text)


@pytest.mark.parametrize("sample", STANDARD)
@pytest.mark.parametrize("name", FORMATS)
def test_the_order_that_findings_were_given_in_does_not_matter(name: str, sample: str) -> None:
    report = STANDARD[sample]
    turned = tuple(replace(one, findings=one.findings[::-1]) for one in report.targets)
    view = format_named(name)
    assert view.render(replace(report, targets=turned)) == view.render(report)


@pytest.mark.parametrize("name", ALONE)
@settings(max_examples=60, deadline=None)
@given(reports)
def test_formats_for_machines_are_printable_and_the_same_on_every_page(
    name: str, report: Report
) -> None:
    text = format_named(name).render(report)
    assert printable(text, kept="\n") == text
    assert text == format_named(name).render(report, Page(120, color=True, verbose=True))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("sample", ["mixed", "three-targets", "unknown", "alike"])
def test_text_pages(sample: str, page: str) -> None:
    text = format_named("text").render(STANDARD[sample], PAGES[page])
    snapshots.check(f"text/{sample}-{page}.txt", text)


@pytest.mark.parametrize("page", DETAILED)
def test_text_pages_of_more_and_less_detail(page: str) -> None:
    view = format_named("text")
    for name, text in {
        "mixed": view.render(STANDARD["mixed"], DETAILED[page]),
        "three-targets": view.render(STANDARD["three-targets"], DETAILED[page]),
        "plan/swap": view.render_plan(PLANS["swap"], DETAILED[page]),
        "gate/failing": view.render_gate(GATES["failing"], DETAILED[page]),
        "emulation/mixed": view.render_emulation(EMULATIONS["mixed"], DETAILED[page]),
    }.items():
        snapshots.check(f"text/{name}-{page}.txt", text)


@pytest.mark.parametrize("sample", EMULATIONS)
@pytest.mark.parametrize("name", LISTING)
def test_standard_emulations(name: str, sample: str) -> None:
    text = format_named(name).render_emulation(EMULATIONS[sample])
    snapshots.check(f"{name}/emulation/{sample}.txt", text)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("sample", EMULATIONS)
def test_emulation_pages(sample: str, page: str) -> None:
    text = format_named("text").render_emulation(EMULATIONS[sample], PAGES[page])
    snapshots.check(f"text/emulation/{sample}-{page}.txt", text)


@pytest.mark.parametrize("name", LISTING)
def test_targets(name: str) -> None:
    snapshots.check(f"{name}/targets.txt", format_named(name).render_targets(ROWS))


@pytest.mark.parametrize("name", LISTING)
def test_explanations(name: str) -> None:
    snapshots.check(f"{name}/explain.txt", format_named(name).render_explanations(EXPLAINED))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", LISTING)
def test_databases(name: str, view: str) -> None:
    text = format_named(name).render_database(VIEWS[view])
    snapshots.check(f"{name}/database/{view}.txt", text)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_database_pages(view: str, page: str) -> None:
    text = format_named("text").render_database(VIEWS[view], PAGES[page])
    snapshots.check(f"text/database/{view}-{page}.txt", text)


def test_nothing_to_list_is_said() -> None:
    text = format_named("text")
    assert text.render_targets(()) == "The database has no targets.\n"
    assert text.render_explanations(()) == "There is nothing to explain.\n"


def test_a_format_for_reports_alone_declines_the_rest() -> None:
    with pytest.raises(UsageError, match="the format 'lines' is for reports"):
        _Lines().render_targets(ROWS)
    with pytest.raises(UsageError, match="opcheck emulate cannot write it"):
        _Lines().render_emulation(EMULATIONS["clean"])
    with pytest.raises(UsageError, match="opcheck explain cannot write it"):
        _Lines().render_explanations(EXPLAINED)
    with pytest.raises(UsageError, match="opcheck db cannot write it"):
        _Lines().render_database(VIEWS["status"])


def test_unknown_format_names_the_known() -> None:
    with pytest.raises(UsageError) as caught:
        format_named("xml")
    assert (caught.value.message, caught.value.hint, caught.value.exit_code) == (
        "unknown format: 'xml'",
        "known formats: csv, github, gitlab, html, json, junit, markdown, sarif, text",
        ExitCode.USAGE,
    )
