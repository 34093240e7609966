"""Pages that show commands: what each shows, and what it would show now.

In a block ``console`` every line that begins with ``$`` is a command, run by bash, and what follows
is what it prints. A block with ``title="FILE"`` is a file that the commands after it find; one of
``examples/`` is shown as it is there.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opcheck.sandbox.parent.process import _without_secrets
from tests.preloaded import python

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
_BLOCK = re.compile(r"^```(?P<head>\w+[^\n`]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r'title="(?P<name>[^"]+)"')
_PROMPT = "$ "
_SHELL = 'opcheck() { python -m opcheck "$@"; }; python() { %s "$@"; }; '
_LOADED = ("torch", "opcheck.app.main", "tests.preloaded.workers", "tests.preloaded.database")
"""What most commands come to use: it is loaded once for all of them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a page, and what the page says that it prints."""

    command: str
    output: str


def steps(text: str) -> tuple[Step, ...]:
    """The commands that a page shows with what they print, in its order."""
    found = (match for match in _BLOCK.finditer(text) if _is_console(match))
    return tuple(step for match in found for step in _steps(match["body"]))


def printed(command: str, folder: Path, *, colour: bool = False) -> str:
    """What a command prints now, in a terminal of 80 columns; without colour unless wanted."""
    done = ran(command, folder, colour=colour)
    if done.returncode:
        raise RuntimeError(f"{command!r} exits with {done.returncode}:\n{done.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


def ran(command: str, folder: Path, *, colour: bool = False) -> "subprocess.CompletedProcess[str]":
    """A command, run by bash in such a terminal; ``opcheck`` and ``python`` have started before."""
    environment = dict(_environment())
    if colour:
        del environment["NO_COLOR"]
        environment["FORCE_COLOR"] = "1"
    program = shlex.join(python(*_LOADED, environment=tuple(environment.items())))
    return subprocess.run(
        ["bash", "-c", _SHELL % program + command],
        capture_output=True, text=True, check=False, cwd=folder, env=environment,
    )  # fmt: skip


@cache
def _environment() -> Mapping[str, str]:
    # what the process of a model file keeps: that of the user's own code has the same, then
    kept = {n: text for n, text in _without_secrets(os.environ).items() if "OPCHECK_" not in n}
    kept.pop("PYTEST_CURRENT_TEST", None)  # of the first test only
    terminal = {"COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    return {**kept, **terminal, "PYTHONPATH": str(ROOT)}


def shown_now(text: str, folder: Path) -> str:
    """The page with what its commands print now, when they are run in a folder one by one."""
    return _BLOCK.sub(lambda match: _block_now(match, folder), text)


def _block_now(match: re.Match[str], folder: Path) -> str:
    body = match["body"]
    if title := _TITLE.search(match["head"]):
        path, example = folder / title["name"], EXAMPLES / title["name"]
        body = example.read_text(encoding="utf-8") if example.is_file() else body
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    elif _is_console(match):
        lines = (f"{_PROMPT}{s.command}\n{printed(s.command, folder)}" for s in _steps(body))
        body = "".join(lines)
    return f"```{match['head']}\n{body}```"


def _is_console(match: re.Match[str]) -> bool:
    return str(match["head"]).split()[0] == "console"


def _steps(body: str) -> Iterator[Step]:
    command, output = "", ""
    for line in body.splitlines(keepends=True):
        if line.startswith(_PROMPT):
            if command:
                yield Step(command, output)
            command, output = line.removeprefix(_PROMPT).rstrip("\n"), ""
        else:
            output += line
    if command:
        yield Step(command, output)
