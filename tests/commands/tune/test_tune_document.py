"""The page on ``opcheck tune`` lists every advice; what it shows is tested with all pages."""

import re
from pathlib import Path

from opcheck.commands.tune.base import advisors

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "tune.md").read_text(encoding="utf-8")


def test_every_advice_is_listed() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(advisor.name, advisor.about) for advisor in advisors()]


def test_every_file_has_advice() -> None:
    folder = ROOT / "opcheck" / "commands" / "tune" / "advices"
    files = {path.stem for path in folder.glob("*.py") if path.name != "__init__.py"}
    assert files == {type(advisor).__module__.rpartition(".")[2] for advisor in advisors()}
