"""``--quiet``, ``--explain`` and ``--top``: how much a report for people says."""

import pytest
from msgspec.structs import replace

from opcheck.errors import ExitCode
from opcheck.views.formats import Page, command_view, report_view
from tests.app.stand_in import StandIn, outcome, run
from tests.views.emulations import EMULATIONS
from tests.views.gates import GATES
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

PAGES = {
    "--quiet": Page(quiet=True),
    "-q": Page(quiet=True),
    "--explain": Page(explain=True),
    "--top 1": Page(top=1),
    "--top 2 --explain": Page(top=2, explain=True),
}


def rendered(command: str, page: Page) -> str:
    view = report_view("text")
    match command:
        case "scan":
            return view.render(STANDARD["mixed"], page)
        case "plan":
            return view.render(PLANS["swap"], page)
        case "gate":
            return command_view("gate", "text").render(GATES["failing"], page)
        case _:
            return command_view("emulate", "text").render(EMULATIONS["mixed"], page)


LINES = {
    "scan": "scan mixed",
    "plan": "plan swap",
    "gate": "gate failing",
    "emulate": "emulate mixed -t ascend-910b",
}


@pytest.mark.parametrize("options", PAGES)
@pytest.mark.parametrize("command", LINES)
def test_a_page_is_as_detailed_as_was_asked(
    command: str, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(f"{LINES[command]} {options}".split(), StandIn())
    assert capsys.readouterr().out == rendered(command, PAGES[options])


@pytest.mark.parametrize("command", LINES)
def test_quiet_leaves_the_exit_code_as_it_is(command: str) -> None:
    line = LINES[command].split()
    assert run([*line, "--quiet"], StandIn()) == run(line, StandIn())


@pytest.mark.parametrize("more", ["--verbose", "--explain", "--top 3"])
@pytest.mark.parametrize("command", LINES)
def test_quiet_and_more_contradict_each_other(
    command: str, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in = StandIn()
    assert run(f"{LINES[command]} --quiet {more}".split(), stand_in) == ExitCode.USAGE
    assert not stand_in.asked
    assert capsys.readouterr().err == (
        f"opcheck: error: --quiet gives the verdict alone, and {more.split()[0]} asks for more\n"
        "  hint: leave one of them out\n"
    )


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "all", "", "9" * 10])
def test_a_number_of_findings_is_one(count: str) -> None:
    found = outcome(["scan", "mixed", "--top", count], StandIn())
    assert found.exit_code == ExitCode.USAGE
    assert f"not a number of findings: {count!r}" in " ".join(found.stderr.split())


def test_formats_for_machines_say_everything_whatever_is_asked() -> None:
    view = report_view("json")
    for page in PAGES.values():
        assert view.render(STANDARD["mixed"], page) == view.render(STANDARD["mixed"])


def test_top_counts_what_it_leaves_out() -> None:
    text = report_view("text").render(STANDARD["many"], Page(top=3))
    assert text.count("\n    where ") == 3
    assert "\n  and 97 more findings\n" in text
    assert text.count("\n  and 100 more findings\n") == 2


def test_quiet_gives_one_line_a_target_however_long_it_is() -> None:
    report = STANDARD["three-targets"]
    report = replace(report, model=replace(report.model, source="x" * 200))
    lines = report_view("text").render(report, Page(width=40, quiet=True)).splitlines()
    assert [line.split()[0] for line in lines] == ["✔", "✘", "✘"]
    assert all("x" * 200 in line for line in lines)
