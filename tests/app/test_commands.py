"""What each command asks for, and what it writes."""

import os
import sys
from pathlib import Path

import pytest

import opcheck.commands
from opcheck.app.main import application
from opcheck.errors import ExitCode
from opcheck.model.emulation import EmulationRequest
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.sandbox.limits import landlock, seccomp
from opcheck.version import __version__
from opcheck.views.formats import Page, command_view, report_formats, report_view
from tests.app.stand_in import FAILURES, StandIn, outcome, run
from tests.views.databases import STATUS, UNSOUND
from tests.views.emulations import EMULATIONS
from tests.views.samples import EXPLAINED, ROWS, STANDARD

PROGRAM = application()
GROUPS = {
    name: list(command.commands)
    for name, command in PROGRAM.commands.items()
    if hasattr(command, "commands")
}
COMMANDS = [name for name in PROGRAM.commands if name not in GROUPS]
LINES = [*COMMANDS, *GROUPS, *(f"{name} {c}" for name, found in GROUPS.items() for c in found)]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def test_commands_are_found() -> None:
    folder = Path(opcheck.commands.__file__).parent
    assert {"emulate", "explain", "scan", "targets"} <= set(COMMANDS)
    assert sorted(file.parent.name for file in folder.glob("*/command.py")) == COMMANDS
    assert sorted(file.parent.name for file in folder.glob("*/subcommands")) == list(GROUPS)
    assert GROUPS["db"] == ["check", "diff", "import", "refresh", "show", "status"]


def test_scan_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "scan mixed -t ascend-910b --target ascend-910a@26.1.0+torch2.7 --input ids=1x128:int64 "
        "--input mask=1x128:bool --exact --timeout 2.5 --memory 4 --trust --format json"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        ScanRequest(
            ModelSpec(
                "mixed", ("ids=1x128:int64", "mask=1x128:bool"), trust=True, timeout=2.5, memory=4.0
            ),
            (
                TargetSpec("ascend-910b"),
                TargetSpec("ascend-910a", "26.1.0", "2.7"),
            ),
            True,
        )
    ]


def test_scan_asks_for_little_by_default() -> None:
    rooms = StandIn()
    assert run(["scan", "mixed"], rooms) == ExitCode.PASS
    assert rooms.asked == [ScanRequest(ModelSpec("mixed"), ())]


def test_what_this_kernel_does_not_enforce_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr(seccomp, "known", lambda: True)
    lines = {
        "en": "opcheck: warning: this kernel has no Landlock: files are not kept from a model's "
        "process\n",
        "zh": "opcheck：警告：此内核没有 Landlock：模型进程的文件访问未受限制\n",
    }
    for language, line in lines.items():
        found = outcome(["scan", "mixed", "--lang", language], StandIn())
        assert (found.exit_code, found.stderr) == (ExitCode.PASS, line)


def test_emulate_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "emulate clean -t ascend-910a@26.1.0+torch2.7 --input ids=1x128:int64 --train --values "
        "--stop --check --timeout 2.5 --memory 4 --trust --format json"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        EmulationRequest(
            ModelSpec(
                "clean",
                ("ids=1x128:int64",),
                step=TrainingSpec(),
                trust=True,
                timeout=2.5,
                memory=4.0,
            ),
            TargetSpec("ascend-910a", "26.1.0", "2.7"),
            values=True,
            stop=True,
            check=True,
        )
    ]


def test_emulate_asks_for_little_by_default() -> None:
    rooms = StandIn()
    assert run(["emulate", "clean", "-t", "ascend-910b"], rooms) == ExitCode.PASS
    assert rooms.asked == [EmulationRequest(ModelSpec("clean"), TargetSpec("ascend-910b"))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "emulate clean",
            "opcheck: error: no target was given; want one\n"
            "  hint: name it with -t, as in -t ascend-910b; opcheck targets lists them\n",
        ),
        (
            "emulate clean -t ascend-910b -t ascend-910a@26.1.0",
            "opcheck: error: 2 targets were given; want one: ascend-910b, ascend-910a@26.1.0\n"
            "  hint: run the command once for each; opcheck scan takes several at once\n",
        ),
        (
            "emulate clean -t all",
            "opcheck: error: all targets were given; want one\n"
            "  hint: name it with -t, as in -t ascend-910b; opcheck scan takes all at once\n",
        ),
        (
            "run train.py --epochs 2 -t ascend-910b",
            "opcheck: error: no target was given; want one\n"
            "  hint: -t is the script's own where it stands after it; write it before\n",
        ),
    ],
)
def test_a_command_takes_one_target(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rooms = StandIn()
    assert run(line.split(), rooms) == ExitCode.USAGE
    assert capsys.readouterr() == ("", message)
    assert rooms.asked == []


@pytest.mark.parametrize(
    ("sample", "options", "code"),
    [
        ("mixed", "", ExitCode.PASS),
        ("mixed", "--check", ExitCode.PASS),
        ("mixed", "--stop", ExitCode.GATE),
        ("stopped", "--stop", ExitCode.GATE),
        ("clean", "--stop", ExitCode.PASS),
        ("ended", "--stop --check", ExitCode.PASS),
        ("disagreeing", "", ExitCode.PASS),
        ("disagreeing", "--stop", ExitCode.PASS),
        ("disagreeing", "--check", ExitCode.GATE),
        ("unconfirmed", "", ExitCode.PASS),
        ("unconfirmed", "--check", ExitCode.GATE),
        ("training", "--check", ExitCode.PASS),
    ],
)
def test_emulate_exits_with_what_was_asked_to_hold(
    sample: str, options: str, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"emulate {sample} -t ascend-910b {options}"
    assert run(line.split(), StandIn()) == code
    expected = command_view("emulate", "text").render(EMULATIONS[sample])
    assert capsys.readouterr() == (expected, "")


@pytest.mark.parametrize("name", ["text", "json"])
def test_stdout_is_the_answer_and_nothing_else(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    view, emulation = report_view(name), command_view("emulate", name)
    for line, expected in {
        f"scan three-targets --format {name}": view.render(STANDARD["three-targets"]),
        f"emulate mixed -t ascend-910a --format {name}": emulation.render(EMULATIONS["mixed"]),
        f"targets --format {name}": command_view("targets", name).render(ROWS),
        f"explain gelu --format {name}": command_view("explain", name).render(EXPLAINED),
        f"db status --format {name}": command_view("db", name).render(STATUS),
    }.items():
        assert run(line.split(), StandIn()) == ExitCode.PASS
        assert capsys.readouterr() == (expected, "")


def test_scan_says_more_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", "many", "--verbose"], StandIn()) == ExitCode.PASS
    expected = report_view("text").render(STANDARD["many"], Page(verbose=True))
    assert capsys.readouterr().out == expected


def test_explain_asks_for_the_operator_on_the_targets() -> None:
    rooms = StandIn()
    assert run(["explain", "aten.gelu.default", "-t", "ascend-910b@26.1.0"], rooms) == 0
    assert rooms.asked == [("aten.gelu.default", (TargetSpec("ascend-910b", "26.1.0"),), ())]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("targets --db a --db b", ("targets", ("a", "b"))),
        ("explain gelu --db a", ("gelu", (), ("a",))),
        ("db status --db a", ("status", ("a",))),
        ("db show ascend-910b@26.1.0", ("show", TargetSpec("ascend-910b", "26.1.0"), ())),
        ("db show ascend-910b gelu --db a", ("gelu", (TargetSpec("ascend-910b"),), ("a",))),
        (
            "db diff ascend@26.0.0 ascend@26.1.0 --db a",
            ("diff", TargetSpec("ascend", "26.0.0"), TargetSpec("ascend", "26.1.0"), ("a",)),
        ),
        ("models", ("models", "", (), ())),
        ("models llama -t ascend --db a", ("models", "llama", (TargetSpec("ascend"),), ("a",))),
        ("db check", ("check", ())),
        (
            "db refresh ascend files --from a --from b --release 1 --revision v1 --model x.pt2",
            (
                "refresh",
                "ascend",
                Path("files"),
                [Path("a"), Path("b")],
                "1",
                "v1",
                ("x.pt2",),
                None,
            ),
        ),
        (
            "db refresh ascend files --from a --release 1 --no-models --into there",
            ("refresh", "ascend", Path("files"), [Path("a")], "1", "", (), Path("there")),
        ),
        ("db import ascend files", ("import", "ascend", Path("files"), (), None)),
        (
            "db import ascend files --release 1 --release 2 --into there",
            ("import", "ascend", Path("files"), ("1", "2"), Path("there")),
        ),
        (
            "scan mixed --db a --max-age 9",
            ScanRequest(ModelSpec("mixed"), (), databases=("a",), max_age=9),
        ),
        (
            "emulate clean -t ascend-910b --db a",
            EmulationRequest(ModelSpec("clean"), TargetSpec("ascend-910b"), databases=("a",)),
        ),
    ],
)
def test_databases_are_asked_for(line: str, asked: object) -> None:
    rooms = StandIn()
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [asked]


def test_an_unsound_database_ends_in_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "check", "--db", "a"], StandIn()) == ExitCode.DATABASE
    assert capsys.readouterr() == (command_view("db", "text").render(UNSOUND), "")


@pytest.mark.parametrize(
    ("days", "code", "message"),
    [
        (365, 4, "opcheck: error: too old for the policy of 365 days: dateless (of no date)\n"),
        (
            20,
            4,
            "opcheck: error: too old for the policy of 20 days: acme (of 2025-06-01), "
            "dateless (of no date)\n",
        ),
    ],
)
def test_old_data_is_refused_after_it_was_shown(
    days: int, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"db status --max-age {days}".split(), StandIn()) == code
    shown = capsys.readouterr()
    assert shown.out == command_view("db", "text").render(STATUS)
    hint = "  hint: update opcheck, or bring the vendor's newer files in with opcheck db import\n"
    assert shown.err == message + hint


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == ExitCode.PASS
    assert capsys.readouterr() == (f"opcheck {__version__}\n", "")


@pytest.mark.parametrize("ending", ["--help", "-h", "--help-all"])
@pytest.mark.parametrize("line", ["", *LINES])
def test_help(line: str, ending: str) -> None:
    result = outcome([*line.split(), ending])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Usage: ")


OPTIONS = {
    "scan": "-t, --target --input --format -o, --output --exact --timeout --memory --trust",
    "emulate": "-t, --target --input --train --values --stop --check --format -o, --output "
    "--timeout --memory --trust --verbose",
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_lists_every_option_and_source_kind(command: str) -> None:
    from opcheck.source.load import kinds

    text = outcome([command, "--help-all"]).stdout
    flat = " ".join(text.split())
    for option in OPTIONS[command].split():
        assert f" {option} " in f" {flat} "
    shown = "html, json, junit, markdown, sarif, text" if command == "scan" else "json|text"
    assert shown in flat
    assert kinds()
    for kind in kinds():
        assert f" {kind.name} " in flat


FORMATS = ", ".join(report_formats())
EXIT_CODES = {
    "scan no-such-kind": ExitCode.USAGE,
    "scan missing.pt2": ExitCode.MODEL,
    "scan hangs.py:net": ExitCode.MODEL,
    "scan no-database": ExitCode.DATABASE,
    "scan mixed --format xml": ExitCode.USAGE,
    "scan mixed -o no/such/folder/report.json": ExitCode.USAGE,
    "scan bug": ExitCode.CRASH,
    "scan interrupted": 130,
    "scan": ExitCode.USAGE,
    "scan mixed extra": ExitCode.USAGE,
    "scan mixed --no-such-option": ExitCode.USAGE,
    "scan mixed -t Ascend!": ExitCode.USAGE,
    "scan mixed -t ascend-910b@": ExitCode.USAGE,
    "scan mixed --timeout 0": ExitCode.USAGE,
    "scan mixed --timeout nan": ExitCode.USAGE,
    "scan mixed --timeout soon": ExitCode.USAGE,
    "scan mixed --memory -1": ExitCode.USAGE,
    "scan mixed --memory inf": ExitCode.USAGE,
    "emulate": ExitCode.USAGE,
    "emulate clean": ExitCode.USAGE,
    "emulate clean -t Ascend!": ExitCode.USAGE,
    "emulate clean -t ascend-910b --exact": ExitCode.USAGE,
    "emulate old-torch -t ascend-910b": ExitCode.MODEL,
    "emulate missing.pt2 -t ascend-910b": ExitCode.MODEL,
    "emulate clean -t ascend-910b": ExitCode.PASS,
    "explain": ExitCode.USAGE,
    "unheard-of": ExitCode.USAGE,
    "": ExitCode.USAGE,
    "scan mixed": ExitCode.PASS,
    "targets": ExitCode.PASS,
    "explain gelu": ExitCode.PASS,
}


@pytest.mark.parametrize("line", EXIT_CODES)
def test_exit_codes(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split(), StandIn()) == EXIT_CODES[line]
    out, err = capsys.readouterr()
    assert bool(out) is (EXIT_CODES[line] == 0)
    assert ("Traceback" in err) is (line == "scan bug")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "scan no-such-kind",
            "opcheck: error: not a model source: 'no-such-kind'\n  hint: give one of: a file\n",
        ),
        ("scan missing.pt2", "opcheck: error: missing.pt2 does not exist\n"),
        (
            "scan hangs.py:net",
            "opcheck: error: no answer within 4 s\nwhile running\n  hint: give it longer\n",
        ),
        (
            "scan mixed --format xml",
            f"opcheck: error: unknown format: 'xml'\n  hint: known formats: {FORMATS}\n",
        ),
    ],
)
def test_a_failure_is_one_message(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(line.split(), StandIn())
    assert capsys.readouterr() == ("", message)


def test_a_wrong_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    run(["scan", "mixed", "-t", "Ascend!"], StandIn())
    assert capsys.readouterr().err.splitlines()[-1] == (
        "Error: Invalid value for '--target' / '-t': not a target: 'Ascend!' "
        "(want VENDOR-CHIP[:MODE][@SDK][+torchX.Y][+LIBRARYX.Y]); opcheck targets lists them"
    )


def test_a_bug_asks_to_be_reported(capsys: pytest.CaptureFixture[str]) -> None:
    run(["scan", "bug"], StandIn())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2:] == [
        "ZeroDivisionError: division by zero",
        "opcheck: this is a bug in opcheck; please report it with the lines above",
    ]


@pytest.mark.parametrize("line", ["scan mixed --format xml", "scan mixed -o no/such/file"])
def test_what_is_wrong_with_the_answer_is_known_before_the_work(line: str) -> None:
    rooms = StandIn()
    run(line.split(), rooms)
    assert rooms.asked == []


def test_output_file_holds_the_whole_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    assert run(["scan", "mixed", "--format", "json", "-o", str(path)], StandIn()) == 0
    assert path.read_text("utf-8") == report_view("json").render(STANDARD["mixed"])
    assert capsys.readouterr() == ("", "")
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize("source", FAILURES)
def test_a_failure_leaves_the_output_file_as_it_was(source: str, tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("yesterday's")
    assert run(["scan", source, "-o", str(path)], StandIn()) != 0
    assert path.read_text() == "yesterday's"
    assert os.listdir(tmp_path) == ["report.txt"]


def test_output_replaces_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("yesterday's")
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert run(["scan", "empty", "-o", str(link)], StandIn()) == 0
    assert path.read_text("utf-8") == report_view("text").render(STANDARD["empty"])
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("", "cannot write the report to '{tmp}': it is a folder"),
        ("gone/report", "cannot write {tmp}/gone/report: there is no folder {tmp}/gone"),
        ("file/report", "cannot write {tmp}/file/report: there is no folder {tmp}/file"),
    ],
)
def test_unwritable_output_is_one_message(
    where: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(["scan", "mixed", "-o", str(tmp_path / where)], StandIn()) == ExitCode.USAGE
    hint = "  hint: -o takes the path of a file in a folder that exists and can be written to"
    expected = f"opcheck: error: {message.format(tmp=tmp_path)}\n{hint}\n"
    assert capsys.readouterr().err == expected


def test_a_name_that_no_file_can_have_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / ("n" * 300))
    assert run(["scan", "mixed", "-o", path], StandIn()) == ExitCode.USAGE
    assert capsys.readouterr().err == f"opcheck: error: cannot write {path}: File name too long\n"
