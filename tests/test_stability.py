"""The page that says what is stable names what there is, and nothing else."""

import re

import yaml

import opcheck
import opcheck.runtime
import opcheck.testing
from handbook.schema import FILES, read
from opcheck import errors
from opcheck.db.schema.additions import ADVISORY_FILE, LIBRARY_FILE, OVERLAY_FILE
from opcheck.db.schema.checks import Text
from opcheck.errors import ExitCode
from tests.console import ROOT
from tests.release.pythons import promised
from tests.stability_document import WRITTEN_BY_USERS, page_now

PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
_NOT_FOR_USERS = {"TerminatedError", "Stop"}


def _section(title: str) -> str:
    return re.split(r"^## ", PAGE.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[
        0
    ]


def _named(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def _row(module: str) -> set[str]:
    (row,) = re.findall(rf"^\| `{re.escape(module)}` \|(.*)\|$", _section("Python"), re.MULTILINE)
    return _named(row)


def test_every_public_name_is_on_the_page() -> None:
    assert _row("opcheck") == set(opcheck.__all__)
    assert _row("opcheck.testing") == set(opcheck.testing.__all__)
    assert _row("opcheck.runtime") == set(opcheck.runtime.__all__)
    own = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    }
    assert _row("opcheck.errors") == own - _NOT_FOR_USERS


def test_every_command_and_schema_is_on_the_page() -> None:
    assert page_now(PAGE) == PAGE, "make readme writes it anew"
    assert "`opcheck scan`," in _section("The command line")
    assert "`opcheck.report/1`," in _section("Documents")


def test_the_exit_codes_are_those_that_there_are() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|$", PAGE, re.MULTILINE)
    assert rows == [(str(code.value), code.name.lower()) for code in ExitCode]


def test_files_that_users_write_have_a_schema() -> None:
    written = set(re.findall(r"`(opcheck\.\w+/\d)`", _section("Files that you write")))
    names = (kind.required["schema"] for kind in (ADVISORY_FILE, LIBRARY_FILE, OVERLAY_FILE))
    typed = {one for name in names if isinstance(name, Text) for one in name.one_of}
    assert len(typed) == 3
    assert written == typed | WRITTEN_BY_USERS
    assert {str(read(path)["title"]) for path in FILES} >= WRITTEN_BY_USERS


def test_the_pythons_are_those_of_the_package() -> None:
    *first, last = promised()
    assert f"Python {', '.join(first)} and {last}" in _section("Python")
    text = (ROOT / "ci" / "github" / "release.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["check"]["steps"]
    (setup,) = (step for step in steps if "setup-python" in step.get("uses", ""))
    assert setup["with"]["python-version"].split() == [*promised()]
