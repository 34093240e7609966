"""The page on ``opcheck doctor`` lists every check, and shows what the command says."""

import re
from pathlib import Path

import pytest

from opcheck.advise.doctor.base import checks
from tests.readme import output_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
RUNS = dict(re.findall(r"```console\n\$ opcheck ([^\n]*)\n(.*?)```", PAGE, re.DOTALL))
PLANNED = [arguments for arguments in RUNS if arguments.endswith("--plan")]


def test_every_check_is_listed() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(check.name, check.about) for check in checks()]


def test_a_check_is_one_file() -> None:
    folder = ROOT / "opcheck" / "advise" / "doctor" / "checks"
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(files) == len(checks())
    assert all(Path(path).stem.isidentifier() for path in files)


def test_three_are_planned() -> None:
    assert len(PLANNED) == 3


@pytest.mark.parametrize("arguments", PLANNED)
def test_a_plan_is_as_shown(arguments: str) -> None:
    assert output_of(arguments) == RUNS[arguments]
