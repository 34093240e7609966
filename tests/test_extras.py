"""What runs with the required packages alone, and what each command says that needs an extra."""

import os
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from opcheck.errors import EXTRAS, missing_library
from tests.preloaded import python

TARGET = "ascend-910b"
ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
_MODEL = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.special.i0e(torch.relu(x))

model = Net()
"""
_LOADED = ("opcheck.app.main", "tests.preloaded.workers", "tests.preloaded.database")
_NET = ("net.py:model", "--input", "2x3", "-t", TARGET)


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Has processes begin with what makes the libraries of every extra absent."""
    absent = tmp_path_factory.mktemp("absent")
    (absent / "sitecustomize.py").write_text(_ABSENT.format(absent={*EXTRAS}))
    kept = {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {**kept, "PYTHONPATH": f"{absent}{os.pathsep}{ROOT}"}


@pytest.fixture
def run(tmp_path: Path, environment: Mapping[str, str]) -> Run:
    """Run a command line where none of the libraries can be imported, in a folder with a model.

    Each is a copy of one process that could import none either, and so is what runs its model.
    """
    (tmp_path / "net.py").write_text(_MODEL)
    program = python(*_LOADED, environment=tuple(environment.items()))

    def done(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*program, "-m", "opcheck", *words],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return done


def names(requirements: list[str]) -> set[str]:
    """The names of packages that requirements ask for."""
    return {line.replace(">", "[").partition("[")[0] for line in requirements}


def test_five_packages_are_required() -> None:
    assert names(PROJECT["dependencies"]) == {"torch", "typer", "rich", "pyyaml", "msgspec"}


@pytest.mark.parametrize("library", EXTRAS)
def test_an_extra_brings_the_library(library: str) -> None:
    assert library in names(PROJECT["optional-dependencies"][EXTRAS[library]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("scan", *_NET), ("scan", *_NET, "--format", "json"), ("plan", *_NET), ("gate", *_NET),
        ("emulate", *_NET, "--values"), ("tune", *_NET), ("fix", "--shim", "shim.py", "--allow",
        "tolerance", *_NET), ("explain", "aten::gelu", "-t", TARGET), ("doctor", "--help"),
        ("lint", "net.py", "-t", TARGET), ("targets",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_runs_with_what_is_required(run: Run, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode in (0, 10), done.stderr
    assert done.stdout
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "library"),
    [
        (("doctor",), "packaging"),
        (("fix", "--diff", *_NET), "libcst"),
        (("fix", "--custom-op", "aten::special_i0e", *_NET), "jinja2"),
        (("scan", "--format", "html=out.html", *_NET), "jinja2"),
        (("probe", "-t", TARGET), "numpy"),
        (("mcp",), "mcp"),
    ],
    ids=["doctor", "fix", "custom", "html", "probe", "mcp"],
)
def test_a_missing_library_is_named_with_its_extra(
    run: Run, words: tuple[str, ...], library: str
) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr == (
        f"opcheck: error: this needs {library}, which is not installed\n"
        f"  hint: pip install 'opcheck[{EXTRAS[library]}]'\n"
    )


def test_a_missing_library_of_an_extra_is_told_of_and_no_other() -> None:
    found = missing_library(ModuleNotFoundError(name="libcst.matchers"))
    assert found is not None
    assert (found.message, found.hint) == (
        "this needs libcst, which is not installed",
        f"pip install 'opcheck[{EXTRAS['libcst']}]'",
    )
    assert missing_library(ModuleNotFoundError(name="users_own")) is None
