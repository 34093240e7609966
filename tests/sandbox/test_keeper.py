"""Nothing that a kept process started is left, however it hid."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

HIDES = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            code = "import time; time.sleep(60)"
            os.execve(sys.executable, [sys.executable, "-c", code, MARK], {})
        os._exit(0)
for _ in range(3):
    os.wait()
print("hidden", flush=True)
END
"""


def started(folder: Path, mark: str, end: str) -> subprocess.Popen[str]:
    (folder / "hides.py").write_text(HIDES.replace("MARK", repr(mark)).replace("END", end))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "opcheck.sandbox.reaper", "hides"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip


def alive(mark: str) -> list[str]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            command = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in command.split(b"\0"):
            found.append(name)
    return found


@pytest.mark.parametrize(
    ("end", "code"),
    [("", 0), ("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("os.abort()", -6)],
)
def test_what_hides_ends_with_its_process(tmp_path: Path, end: str, code: int) -> None:
    mark = f"kept-{os.getpid()}-{code}"
    process = started(tmp_path, mark, end)
    assert process.stdout is not None
    assert process.stdout.read() == "hidden\n"
    assert process.wait(10) == code
    assert alive(mark) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_hides_ends_with_who_started_the_keeper(
    tmp_path: Path, number: signal.Signals
) -> None:
    """SIGTERM ends the keeper's child; SIGKILL is sent to its parent, as to a whole command."""
    mark = f"kept-{os.getpid()}-{number}"
    (tmp_path / "command.py").write_text(
        "import subprocess, sys\n"
        "sys.exit(subprocess.run([sys.executable, '-P', '-m', 'opcheck.sandbox.reaper', 'hides'])"
        ".returncode)\n"
    )
    code = HIDES.replace("MARK", repr(mark)).replace("END", "time.sleep(60)")
    (tmp_path / "hides.py").write_text(code)
    command = subprocess.Popen(
        [sys.executable, str(tmp_path / "command.py")],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert command.stdout is not None
    assert command.stdout.readline() == "hidden\n"
    ends = time.monotonic() + 10
    while len(alive(mark)) < 3 and time.monotonic() < ends:
        time.sleep(0.02)  # a copy has its own name only once it is another program
    assert len(alive(mark)) == 3
    if number is signal.SIGKILL:
        command.kill()
    else:
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text()
        os.kill(int(children), signal.SIGTERM)
    command.wait(10)
    ends = time.monotonic() + 10
    while alive(mark) and time.monotonic() < ends:
        time.sleep(0.02)
    assert alive(mark) == []
