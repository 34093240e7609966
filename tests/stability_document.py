"""The lists in ``docs/stability.md`` that come from the code: commands, and schemas of documents.

``python -m tests.readme`` writes them anew.
"""

import re
from collections.abc import Iterable, Iterator

from handbook.commands import commands
from handbook.schema import FILES, read
from tests.console import ROOT

PATH = ROOT / "docs" / "stability.md"
_WIDTH = 118
_LIST = re.compile(r"(<!-- (commands|schemas) -->\n).*?(<!-- end -->)", re.DOTALL)
WRITTEN_BY_USERS = {"opcheck.policy/1", "opcheck.baseline/1"}
"""Files of which the page has a table."""


def page_now(page: str) -> str:
    """The page with its lists as they would be now."""
    names = {"commands": _commands, "schemas": _schemas}
    return _LIST.sub(lambda found: found[1] + _listed(names[found[2]]()) + found[3], page)


def _commands() -> Iterator[str]:
    every = sorted(command.name for command in commands())
    for name in every:
        if not any(other.startswith(f"{name} ") for other in every):
            yield name


def _schemas() -> Iterator[str]:
    titles = sorted(str(read(path)["title"]) for path in FILES)
    return (title for title in titles if title not in WRITTEN_BY_USERS)


def _listed(names: Iterable[str]) -> str:
    """Names as code in lines that are not too long, with commas; a name is not broken."""
    lines = [""]
    for name in names:
        word = f"`{name}`,"
        if len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines).removesuffix(",") + ".\n"
