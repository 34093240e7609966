"""The Pythons of a machine that a release is for."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.console import ROOT

_CLASSIFIER = re.compile(r'"Programming Language :: Python :: (\d+\.\d+)"')


def promised() -> tuple[str, ...]:
    """The versions that the package says it is for: ``3.11``, …"""
    return tuple(_CLASSIFIER.findall((ROOT / "pyproject.toml").read_text(encoding="utf-8")))


def found(versions: Sequence[str]) -> Mapping[str, Path]:
    """A Python that can make environments, by version; those that the machine lacks are left out.

    On the path, or among the versions that pyenv keeps.
    """
    usable = ((v, next(filter(lambda p: _makes(p, v), _candidates(v)), None)) for v in versions)
    return {version: python for version, python in usable if python is not None}


def _candidates(version: str) -> Iterator[Path]:
    if there := shutil.which(f"python{version}"):
        yield Path(there)
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted(kept.glob(f"{version}.*/bin/python"), reverse=True)


def _makes(python: Path, version: str) -> bool:
    """Whether it is of that version and has what an environment needs; a shim may be of none."""
    program = "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=False, env=clean()
    )
    return done.returncode == 0 and done.stdout.strip() == version


def clean(**more: str) -> dict[str, str]:
    """The environment of a process without what leads Python to this checkout."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "NO_COLOR": "1", "COLUMNS": "80", **more}
