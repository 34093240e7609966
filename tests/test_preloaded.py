"""What is copied from a process that has modules loaded is what Python itself would start."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.preloaded import python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is copied")

TOLD = """
import os, sys
print(__name__, sys.argv, sys.path, os.getcwd(), os.environ.get("SAID"), sys.stdin.read())
print(sys.stdout.isatty(), sys.modules["__main__"].__dict__ is globals(), file=sys.stderr)
"""
ENDS = {
    "": 0,
    "import sys; sys.exit(3)": 3,
    "1 / 0": 1,
    "import os; os.abort()": -6,
    "import sys; sys.exit('no')": 1,
    "import atexit; atexit.register(print, 'late')": 0,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "told.py").write_text(TOLD, encoding="utf-8")
    return tmp_path


def ran(program: tuple[str, ...], folder: Path, *arguments: str) -> tuple[int, str, str]:
    environment = {**os.environ, "SAID": "hello", "PYTHONPATH": f"{folder}{os.pathsep}/nowhere"}
    done = subprocess.run(
        [*program, *arguments],
        cwd=folder, env=environment, input="given", capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "begin", [("told.py",), ("-m", "told"), ("-c", TOLD), ("-P", "-m", "told")]
)
def test_a_copy_is_as_a_process_that_was_started(folder: Path, begin: tuple[str, ...]) -> None:
    started = ran((sys.executable,), folder, *begin, "one", "-c")
    assert ran(python(), folder, *begin, "one", "-c") == started
    assert started[0] == 0


@pytest.mark.parametrize("code", ENDS)
def test_it_ends_as_one(folder: Path, code: str) -> None:
    copied, started = (ran(each, folder, "-c", code) for each in (python(), (sys.executable,)))
    assert copied[:2] == started[:2]
    assert copied[0] == ENDS[code]
    assert copied[2].splitlines()[-1:] == started[2].splitlines()[-1:]


def test_it_is_ended_with_whoever_stands_for_it(folder: Path) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    command = [*python(), "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as standing:
        assert standing.stdout is not None
        copy = Path(f"/proc/{standing.stdout.readline().strip()}")
        assert copy.exists()
        standing.kill()
    limit = time.monotonic() + 60
    while copy.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert not copy.exists()


def test_modules_are_loaded(folder: Path) -> None:
    asks = "import sys; print('colorsys' in sys.modules)"
    assert ran(python("colorsys"), folder, "-c", asks) == (0, "True\n", "")
    assert ran(python(), folder, "-c", asks) == (0, "False\n", "")
