"""What the README shows is what the commands say."""

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from opcheck.db.store import Database
from opcheck.errors import ExitCode
from opcheck.lang.speech import Language
from tests.console import EXAMPLES, ROOT, ran
from tests.pictures import PAGE, PICTURE, page_picture, picture
from tests.readme import (
    DOCS,
    FENCED,
    README,
    TRANSLATED,
    blocks,
    output_of,
    page_now,
    pages,
    targets_now,
)

HELP = [arguments for arguments in blocks() if arguments.endswith("--help")]
RUNS = [arguments for arguments in blocks() if not arguments.endswith("--help")]


def test_the_readme_shows_help_and_a_run() -> None:
    assert HELP == ["--help"]
    assert any(arguments.startswith("scan ") for arguments in RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", HELP)
def test_help_is_as_shown(arguments: str) -> None:
    assert output_of(arguments) == blocks()[arguments], "make readme writes it anew"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", RUNS)
def test_a_run_is_as_shown(arguments: str) -> None:
    assert output_of(arguments) == blocks()[arguments], "make readme writes it anew"


LONGEST = 18_000
"""Characters of a README: what is longer is in docs."""
PLAIN = [
    line
    for block in FENCED.findall(README.read_text(encoding="utf-8"))
    if block.startswith("```\n")
    for line in block.splitlines()
    if line.startswith("opcheck ")
]


@pytest.mark.parametrize("page", [README, TRANSLATED], ids=["English", "Chinese"])
def test_the_readme_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8")) < LONGEST


@pytest.mark.parametrize(
    ("page", "language"), [(README, Language.ENGLISH), (TRANSLATED, Language.CHINESE)]
)
def test_the_table_of_targets_is_as_the_database_has_them(page: Path, language: Language) -> None:
    text = page.read_text(encoding="utf-8")
    assert targets_now(text, language) == text, "make readme writes it anew"
    assert text.count("\n| ") > len(Database.open().vendors)


@pytest.mark.slow
def test_the_picture_is_of_what_the_command_says() -> None:
    drawn = picture()
    assert drawn == PICTURE.read_text(encoding="utf-8"), "make readme draws it anew"
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "").partition("<style>")[2]


@pytest.mark.slow
def test_the_picture_of_a_page_is_of_what_the_command_writes() -> None:
    drawn = page_picture()
    assert drawn == PAGE.read_text(encoding="utf-8"), "make readme draws it anew"
    parts = {element.tag.partition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert {"h1", "h2", "table"} < parts, "a browser draws nothing of what is no XML"
    assert not parts & {"script", "img", "link"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples of a clone, and with what earlier lines wrote."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(EXAMPLES, folder / "examples")
    return folder


def test_lines_to_copy_are_found() -> None:
    assert len(PLAIN) > 5


@pytest.mark.slow
@pytest.mark.parametrize("line", PLAIN)
def test_a_line_can_be_copied_as_it_stands(line: str, clone: Path) -> None:
    done = ran(line, clone)
    assert done.returncode in (ExitCode.PASS, ExitCode.GATE), done.stderr
    assert done.stdout


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
