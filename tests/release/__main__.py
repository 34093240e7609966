"""``python -m tests.release`` (``make release-check``): build, install everywhere, use.

Leaves the wheel and the source distribution that were checked in ``dist/``.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from opcheck.version import __version__
from tests.console import EXAMPLES, ROOT
from tests.release.contents import faults, sizes
from tests.release.environments import Outcome, installed, made, resolved, used
from tests.release.pythons import found, promised
from tests.release.uses import prepare

DIST = ROOT / "dist"
_EXAMPLE = EXAMPLES / "rotary_attention.py"
_EXTRAS = ("models", "all")


def pinned() -> str:
    """The torch that opcheck is developed with, as pip takes it."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("torch=="))


def built() -> Path:
    """The wheel in ``dist/``, made from the source distribution beside it."""
    shutil.rmtree(DIST, ignore_errors=True)
    command = ["-m", "build", "--no-isolation", "--outdir", str(DIST), str(ROOT)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    (wheel,) = DIST.glob("*.whl")
    return wheel


def looked_at(wheel: Path) -> Iterator[Outcome]:
    """The wheel and the source distribution, before anything is installed."""
    for part, (packed, unpacked) in sizes(wheel).items():
        yield Outcome(
            f"size of {part}", "", detail=f"{packed / 1e6:.1f} MB, {unpacked / 1e6:.1f} installed"
        )
    with zipfile.ZipFile(wheel) as archive:
        yield Outcome("contents", "; ".join(faults(archive.namelist(), __version__)))
    yield described()


def described() -> Outcome:
    """Whether an index takes what the packages say of themselves; twine has an environment too."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        env = made(Path(sys.executable), Path(folder), DIST)
        fault = env.pip("twine>=6.1")
        if not fault:
            code, said, errors = env.run("twine", "check", "--strict", *DIST.iterdir())
            fault = said + errors if code else ""
        return Outcome("twine check", fault, time.monotonic() - started)


def checked(python: Path, wheel: Path, torch: str, work: Path) -> Iterator[Outcome]:
    """The wheel in an environment of one Python, which goes afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        env = made(python, Path(folder), work)
        for outcome in installed(env, wheel, torch):
            yield outcome
            if outcome.fault:
                return
        yield from used(env, __version__)
        yield from resolved(env, wheel, _EXTRAS)


def told(outcomes: Iterator[Outcome]) -> int:
    """Print each as it comes; how many are faults."""
    count = 0
    for outcome in outcomes:
        print(outcome, flush=True)
        count += bool(outcome.fault)
    return count


def main() -> int:
    """0 where everything is as it has to be on every Python that was found."""
    parser = argparse.ArgumentParser(prog="make release-check")
    parser.add_argument("--torch", default=pinned(), help="what pip is asked for first")
    parser.add_argument("--python", action="append", help="of the promised ones, these alone")
    given = parser.parse_args()
    pythons = found(given.python or promised())
    missing = [version for version in given.python or promised() if version not in pythons]
    print(f"opcheck {__version__} with Python {', '.join(pythons) or 'of no version'}")
    if missing:
        print(f"not on this machine, and not checked: Python {', '.join(missing)}")
    wheel = built()
    count = told(looked_at(wheel))
    with tempfile.TemporaryDirectory() as work:
        prepare(Path(work), _EXAMPLE)
        for version, python in pythons.items():
            print(f"Python {version}", flush=True)
            count += told(checked(python, wheel, given.torch, Path(work)))
    print(f"{count} faults" if count else "no fault")
    return 1 if count or not pythons else 0


if __name__ == "__main__":
    sys.exit(main())
