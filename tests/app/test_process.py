"""The command line as a process: pipes, encodings, colours, signals, what it imports."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opcheck.app.progress import Progress
from opcheck.views.formats import Page, report_view
from tests.views.samples import STANDARD

ROOT = Path(__file__).parent.parent.parent
PROGRAM = (sys.executable, "-m", "tests.app.stand_in")
UNSET = ("NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK", "COLUMNS")


def environment(**changes: str) -> dict[str, str]:
    keep = {k: v for k, v in os.environ.items() if k not in UNSET}
    return {**keep, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **changes}


def opcheck(*arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments], env=environment(**changes), capture_output=True, check=False
    )


def text(sample: str, page: Page) -> str:
    return report_view("text").render(STANDARD[sample], page)


def test_a_pipe_gets_eighty_columns_without_colour() -> None:
    done = opcheck("scan", "mixed")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == text("mixed", Page())


@pytest.mark.slow
def test_columns_are_followed_up_to_a_readable_width() -> None:
    for columns, width in (("100", 100), ("500", 120), ("7", 40)):
        done = opcheck("scan", "mixed", COLUMNS=columns)
        assert done.stdout.decode() == text("mixed", Page(width))


@pytest.mark.parametrize(
    ("changes", "color"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
        ({"FORCE_COLOR": ""}, False),
    ],
)
def test_colour(changes: dict[str, str], color: bool) -> None:
    done = opcheck("scan", "mixed", **{"TERM": "xterm", **changes})
    assert done.stdout.decode() == text("mixed", Page(color=color))


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "latin-1"])
def test_an_encoding_without_the_signs_gets_ascii_ones(encoding: str) -> None:
    done = opcheck("scan", "mixed", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    expected = text("mixed", Page(ascii=True)).encode(encoding, "backslashreplace")
    assert done.stdout == expected


def test_a_file_does_not_depend_on_where_it_was_written_from(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    opcheck("scan", "mixed", "-o", str(path), PYTHONIOENCODING="ascii", COLUMNS="50")
    assert path.read_text("utf-8") == text("mixed", Page())


@pytest.mark.slow
def test_json_is_the_same_bytes_in_every_encoding() -> None:
    answers = {
        opcheck("scan", "mixed", "--format", "json", PYTHONIOENCODING=encoding).stdout
        for encoding in ("ascii", "utf-8", "gbk")
    }
    assert answers == {report_view("json").render(STANDARD["mixed"]).encode()}


def test_a_reader_that_leaves_early_is_no_failure() -> None:
    process = subprocess.Popen(
        [*PROGRAM, "scan", "many", "--verbose", "--format", "json"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"{\n"
    process.stdout.close()
    assert process.stderr.read() == b"the model prints this\n"
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "line",
    [
        "scan mixed > /dev/full",
        "scan mixed -o /dev/full",
        "--help > /dev/full",
        "scan --help > /dev/full",
        "--version > /dev/full",
    ],
)
def test_a_full_disk_is_one_message(line: str) -> None:
    command = f"exec '{sys.executable}' -m tests.app.stand_in {line}"
    done = subprocess.run(
        ["sh", "-c", command], env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 2
    where = "/dev/full" if "-o" in line else "to stdout"
    assert done.stderr.decode() == (
        f"opcheck: error: cannot write {where}: No space left on device\n"
    )


@pytest.mark.parametrize("line", ["scan mixed", "--help", "--version"])
def test_a_closed_stdout_is_one_message(line: str) -> None:
    command = f"exec '{sys.executable}' -m tests.app.stand_in {line} >&-"
    done = subprocess.run(
        ["sh", "-c", command], env=environment(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (
        2,
        "opcheck: error: cannot write to stdout: it is closed\n  hint: give a file with -o\n",
    )


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert opcheck("scan", "mixed", "-o", os.devnull).returncode == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.slow
def test_what_the_model_prints_is_passed_on_when_asked_for() -> None:
    told, untold = opcheck("scan", "mixed", "--verbose"), opcheck("scan", "mixed")
    assert told.stderr.decode() == "the model prints this\n"
    assert untold.stderr.decode() == ""
    assert b"the model prints this" not in told.stdout


WAITS = """
import sys, time
from tests.app.stand_in import run
class Waits:
    def scan(self, request, progress, output):
        progress("building [bold] " + request.model.source)
        print("ready", flush=True)
        time.sleep(float(request.model.source))
        raise SystemExit(0)
sys.exit(run(["scan", *sys.argv[1:]], Waits()))
"""


def test_interrupting_is_quiet() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, "60"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # whoever runs the tests in the background has it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")


def on_a_terminal(seconds: str, *options: str, **changes: str) -> bytes:
    """What a scan that takes so long shows on a terminal at stderr."""
    ours, theirs = pty.openpty()
    environ = environment(**{"TERM": "xterm", "CI": "", **changes})
    subprocess.run(
        [sys.executable, "-c", WAITS, seconds, *options],
        env=environ, stdout=subprocess.DEVNULL, stderr=theirs, check=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # Linux ends a terminal without a writer so
        pass
    os.close(ours)
    return shown


@pytest.mark.slow
def test_progress_shows_on_a_terminal_what_takes_longer_than_a_second() -> None:
    shown = on_a_terminal("1.5")
    assert b"building [bold] 1.5" in shown
    assert re.search("· [1-9] s".encode(), shown)  # a busy machine shows it late
    assert on_a_terminal("0.1") == b""


@pytest.mark.slow
def test_progress_leaves_nothing_behind() -> None:
    *_, last = on_a_terminal("1.5").split(b"\x1b[2K")  # what comes after the line was erased
    assert last in (b"", b"\x1b[?25h")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "changes"),
    [((), {"CI": "true"}), ((), {"TERM": "dumb"}), (("--quiet",), {})],
)
def test_progress_is_not_shown_where_nobody_watches(
    options: tuple[str, ...], changes: dict[str, str]
) -> None:
    assert on_a_terminal("1.3", *options, **changes) == b""


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(delay=0) as progress:
        progress("reading")
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_python_m_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "opcheck", "--version"],
        env=environment(), capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"opcheck ")


LOADED = """
import json, sys
from tests.app.stand_in import StandIn, run
code = run(sys.argv[1:], StandIn())
heavy = ("torch", "pydantic", "yaml", "numpy", "rich")
json.dump([name for name in heavy if name in sys.modules], sys.stderr)
"""


@pytest.mark.parametrize(
    ("line", "loaded"),
    [
        ("--help", []),
        ("scan --help", []),
        ("scan mixed --format json -t ascend-910b", []),
        ("emulate --help", []),
        ("emulate mixed --format json -t ascend-910b", []),
        ("scan mixed --timeout 3 -o /dev/null", ["rich"]),
        ("targets", ["rich"]),
        ("explain gelu --format json", []),
    ],
)
def test_nothing_heavy_is_imported(line: str, loaded: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *line.split()],
        env=environment(), capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stderr) == loaded
