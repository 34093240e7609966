"""The page on ``opcheck doctor`` lists every check; what it shows is tested with all pages."""

import re
from pathlib import Path

from opcheck.commands.doctor.base import checks
from tests.console import steps

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")


def test_every_check_is_listed() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(check.name, check.about) for check in checks()]


def test_every_file_has_checks() -> None:
    folder = ROOT / "opcheck" / "commands" / "doctor" / "checks"
    files = {path.stem for path in folder.glob("*.py") if path.name != "__init__.py"}
    assert files == {type(check).__module__.rpartition(".")[2] for check in checks()}


def test_three_are_planned() -> None:
    commands = [step.command for step in steps(PAGE)]
    assert len([command for command in commands if command.endswith("--plan")]) == 3
