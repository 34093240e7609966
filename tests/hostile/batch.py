"""Commands of opcheck one after another, each in a copy of this process: ``batch FILE.json``.

The file lists folders, arguments and where output goes; the exit codes are written beside it. To
start a process for each takes most of the time that a command needs; what they do beside answering
is looked for once, after all of them.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn


def main() -> None:
    """Run what the file lists."""
    path = Path(sys.argv[1])
    asked = json.loads(path.read_text())
    codes = [_run(Path(folder), words, Path(said), asked["limit"])
             for folder, words, said in asked["commands"]]  # fmt: skip
    path.with_suffix(".codes").write_text(json.dumps(codes))


def _run(folder: Path, words: list[str], said: Path, limit: float) -> int | None:
    """The exit code of one command, None where it hung."""
    pid = os.fork()
    if not pid:
        _become(folder, words, said)
    ends = time.monotonic() + limit
    pause = 0.001
    while time.monotonic() < ends:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def _become(folder: Path, words: list[str], said: Path) -> NoReturn:
    """Be the command."""
    from opcheck.app.main import main as command

    os.setsid()
    code = 1
    try:
        os.chdir(folder)
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(file, number)
        sys.argv = ["opcheck", *words]
        try:
            command()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        except BaseException as error:  # as Python itself shows it
            sys.excepthook(type(error), error, error.__traceback__)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
