"""Saved reports in other formats, and several formats at once."""

import io
import re
import sys
from pathlib import Path

import pytest

from opcheck.errors import ExitCode
from opcheck.model.report import Report
from opcheck.views.formats import Page, command_view, report_formats, report_view
from tests.app.stand_in import StandIn, run
from tests.views.emulations import EMULATIONS
from tests.views.plans import PLANS
from tests.views.samples import STANDARD

NAMES = report_formats()
STARTED = Page(started="2026-05-12T08:30:00")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1778574600")
    saved("report.json", STANDARD["three-targets"])
    saved("plan.json", PLANS["swap"])


def saved(name: str, report: Report) -> None:
    Path(name).write_text(report_view("json").render(report), "utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_report_is_shown_as_the_scan_would_show_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rooms = StandIn()
    assert run(["convert", "report.json", "--format", name], rooms) == ExitCode.PASS
    converted = capsys.readouterr()
    assert run(["scan", "three-targets", "--format", name], rooms) == ExitCode.PASS
    assert converted == capsys.readouterr()
    assert converted == (report_view(name).render(STANDARD["three-targets"], STARTED), "")


def test_a_saved_plan_is_shown_as_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "plan.json", "--verbose"], StandIn()) == ExitCode.PASS
    expected = report_view("text").render(PLANS["swap"], Page(verbose=True))
    assert capsys.readouterr() == (expected, "")


def test_a_report_comes_from_stdin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + Path("report.json").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run(["convert", "-", "--format", "csv"], StandIn()) == ExitCode.PASS
    assert capsys.readouterr().out == report_view("csv").render(STANDARD["three-targets"])


@pytest.mark.parametrize("command", ["scan three-targets", "convert report.json"])
def test_several_formats_at_once(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{command} --format text --format json=a.json --format sarif=b=c.sarif"
    assert run(line.split(), StandIn()) == ExitCode.PASS
    report = STANDARD["three-targets"]
    assert capsys.readouterr() == (report_view("text").render(report), "")
    assert Path("a.json").read_text("utf-8") == report_view("json").render(report)
    assert Path("b=c.sarif").read_text("utf-8") == report_view("sarif").render(report)


def test_one_of_several_goes_where_output_says(capsys: pytest.CaptureFixture[str]) -> None:
    line = "plan swap --format junit=a.xml --format markdown -o comment.md"
    assert run(line.split(), StandIn()) == ExitCode.PASS
    assert capsys.readouterr() == ("", "")
    for name, path in (("junit", "a.xml"), ("markdown", "comment.md")):
        assert Path(path).read_text("utf-8") == report_view(name).render(PLANS["swap"], STARTED)


def test_all_of_several_may_go_to_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "report.json", "--format", "csv=a.csv"], StandIn()) == ExitCode.PASS
    assert capsys.readouterr() == ("", "")


SEVERAL = "write --format FORMAT=FILE for each but one, as in --format text --format json=a.json"
JSON = "a report is what opcheck scan --format json writes"
REFUSED = {
    "scan mixed --format text --format json": ("2 formats for stdout: text, json", SEVERAL),
    "scan mixed --format text --format json -o a": ("2 formats for a: text, json", SEVERAL),
    "scan mixed --format json=": ("--format json=: there is no file after =", SEVERAL),
    "scan mixed --format xml=a.xml": (
        "unknown format: 'xml'",
        f"known formats: {', '.join(NAMES)}",
    ),
    "scan mixed --format json=a -o b": ("no format is left for b", "leave -o out, or =FILE"),
    "scan mixed --format json=a --format text=./a": (
        "two formats for a",
        "give each a file of its own",
    ),
    "scan mixed --format text -o a --format json=a": (
        "two formats for a",
        "give each a file of its own",
    ),
    "convert missing.json": ("cannot read missing.json: No such file or directory", JSON),
    "convert .": ("cannot read .: Is a directory", JSON),
    "convert emulation.json": (
        "emulation.json.schema: expected 'opcheck.report/1', got 'opcheck.emulation/1'",
        JSON,
    ),
    "convert latin.json": ("cannot read latin.json: .* can't decode byte 0xe9 .*", JSON),
    "convert \0": ("cannot read .*: no file can have this name", JSON),
    "explain gelu --format sarif": (
        "the format 'sarif' is for reports; opcheck explain cannot write it",
        "use --format text or --format json",
    ),
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_is_said_before_anything_is_written(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("emulation.json").write_text(
        command_view("emulate", "json").render(EMULATIONS["clean"]), "utf-8"
    )
    Path("latin.json").write_bytes(b'{"schema": "\xe9"}')
    before = sorted(Path.cwd().iterdir())
    rooms = StandIn()
    assert run(line.split(" "), rooms) == ExitCode.USAGE
    message, hint = REFUSED[line]
    out, err = capsys.readouterr()
    first, second = err.rstrip("\n").split("\n  hint: ")
    assert (out, second) == ("", hint)
    assert re.fullmatch(f"opcheck: error: (?:{message})", first) or first.endswith(message)
    assert sorted(Path.cwd().iterdir()) == before
    if line.startswith("scan"):
        assert rooms.asked == []


def test_a_file_of_a_later_format_that_cannot_be_written_stops_the_scan(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rooms = StandIn()
    line = "scan mixed --format json=a.json --format sarif=no/such/b.sarif"
    assert run(line.split(), rooms) == ExitCode.USAGE
    assert rooms.asked == []
    assert not Path("a.json").exists()
