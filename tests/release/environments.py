"""A fresh environment with the wheel in it, and what comes of using it."""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tests.release.pythons import clean
from tests.release.uses import Use, compiled, uses

_WITHOUT_TORCH = ("typer>=0.24", "rich>=13.7", "pyyaml>=6.0", "msgspec>=0.19")
_LONGEST = 1800
"""Seconds that one command may take: a torch for CUDA brings gigabytes."""


class Outcome(Struct, frozen=True):
    """What came of one step: the fault, or nothing."""

    name: str
    fault: str
    seconds: float = 0.0
    detail: str = ""

    def __str__(self) -> str:
        mark, said = ("✘", self.fault) if self.fault else ("✔", self.detail)
        return f"  {mark} {self.name:<24} {self.seconds:6.1f} s  {said}".rstrip()


class Environment(Struct, frozen=True):
    """A folder of ``venv``, and a folder in which commands are run, outside of the checkout."""

    folder: Path
    work: Path

    def run(self, *command: str | Path) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of one of its programs."""
        program, *arguments = map(str, command)
        path = self.folder / "bin" / program
        cache = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        try:
            done = subprocess.run(
                [path, *arguments], cwd=self.work, env=clean(**cache), capture_output=True,
                text=True, check=False, timeout=_LONGEST,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return -1, "", f"took more than {_LONGEST} s"
        return done.returncode, done.stdout, done.stderr

    def pip(self, *arguments: str) -> str:
        """Have pip install something; what it says where it cannot, "" where it did."""
        code, _, errors = self.run("python", "-m", "pip", "install", "--quiet", *arguments)
        said = [line for line in errors.splitlines() if line.startswith("ERROR")]
        return ("; ".join(said) or errors[-300:]) if code else ""


def made(python: Path, folder: Path, work: Path) -> Environment:
    """A new environment of that Python."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True, env=clean())
    return Environment(folder, work)


def installed(env: Environment, wheel: Path, torch: str) -> Iterator[Outcome]:
    """Install torch, then the wheel as it stands; without torch where no build of it is found."""
    started = time.monotonic()
    why = env.pip(torch)
    name = f"pip install {torch}"
    if why:
        yield Outcome(f"no {torch}", "", time.monotonic() - started, f"left out: {why}")
        started, name = time.monotonic(), "pip install, no torch"
        fault = env.pip(*_WITHOUT_TORCH) or env.pip("--no-deps", str(wheel))
        yield Outcome(name, fault, time.monotonic() - started)
        return
    _, version, _ = env.run("python", "-c", "import torch; print(torch.__version__)")
    yield Outcome(name, "", time.monotonic() - started, f"torch {version.strip()}")
    started = time.monotonic()
    yield Outcome("pip install WHEEL", env.pip(str(wheel)), time.monotonic() - started)
    code, said, _ = env.run("python", "-m", "pip", "check")
    yield Outcome("pip check", said.strip() if code else "")


def resolved(env: Environment, wheel: Path, extras: Sequence[str]) -> Iterator[Outcome]:
    """Whether pip finds releases of what each extra brings, beside the torch that is there."""
    for extra in extras:
        started = time.monotonic()
        fault = env.pip("--dry-run", f"{wheel}[{extra}]")
        yield Outcome(f"resolves [{extra}]", fault, time.monotonic() - started)


def used(env: Environment, version: str) -> Iterator[Outcome]:
    """Every use, and after them whether a file of the database had to be compiled."""
    code, where, _ = env.run("python", "-c", "import opcheck; print(opcheck.__file__)")
    inside = not code and Path(where.strip()).is_relative_to(os.path.realpath(env.folder))
    yield Outcome("is the installed one", "" if inside else f"imported from {where.strip()}")
    has_torch = env.run("python", "-c", "import torch")[0] == 0
    for use in uses(version):
        if has_torch or not use.torch:
            yield _outcome(env, use)
    found = compiled(env.folder / "cache")
    yield Outcome("nothing was compiled", ", ".join(found))


def _outcome(env: Environment, use: Use) -> Outcome:
    started = time.monotonic()
    code, stdout, errors = env.run(*use.command)
    fault = f"exit code {code}: {errors[-300:]}" if code else use.fault(stdout)
    return Outcome(use.name, fault, time.monotonic() - started)
