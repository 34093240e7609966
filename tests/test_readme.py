"""What the README shows is what the commands say."""

import re
from pathlib import Path

import pytest

from opcheck.errors import ExitCode
from tests.console import ROOT
from tests.readme import DOCS, README, blocks, output_of, page_now, pages

HELP = [arguments for arguments in blocks() if arguments.endswith("--help")]
RUNS = [arguments for arguments in blocks() if not arguments.endswith("--help")]


def test_the_readme_shows_help_and_a_run() -> None:
    assert {"--help", "scan --help"} <= set(HELP)
    assert any(arguments.startswith("scan ") for arguments in RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", HELP)
def test_help_is_as_shown(arguments: str) -> None:
    assert output_of(arguments) == blocks()[arguments], "make readme writes it anew"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", RUNS)
def test_a_run_is_as_shown(arguments: str) -> None:
    assert output_of(arguments) == blocks()[arguments], "make readme writes it anew"


def test_pages_of_docs_show_runs() -> None:
    assert {DOCS / "tutorial.md", DOCS / "extensions.md"} <= set(pages())


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_is_as_shown(page: Path) -> None:
    shown = page.read_text(encoding="utf-8")
    assert _unmeasured(page_now(page)) == _unmeasured(shown), "make readme writes it anew"


def _unmeasured(text: str) -> str:
    """Leave out rounding errors, and where they are largest: CPUs differ in them."""
    text = re.sub(r"\b\d\.\de[+-]\d\d\b", "…", text)
    # the name is as long as it is, and so the lines break elsewhere
    return re.sub(r"grad\s+of\s+\S+\s+is off by\s+…,\s+and may be by\s+\S+", "grad …", text)


def test_every_exit_code_is_told() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(str(code.value), code.name.lower()) for code in ExitCode]


def test_the_test_command_is_what_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [
        line for line in script.splitlines() if line and not line.startswith(("#", "set", "cd"))
    ]
    assert commands == ["make test"]
    assert "```\nmake demo" in README.read_text(encoding="utf-8")
    assert "\nmake test" in README.read_text(encoding="utf-8")
