"""Text from a report as Markdown that shows it and does nothing else, and lines that fit."""

import re
from collections.abc import Sequence

from opcheck.lang.speech import tell
from opcheck.views.interchange import one_line

LIMIT = 65_536
"""Characters that GitHub takes in a comment; GitLab takes more."""


def size(text: str) -> int:
    """Characters as JavaScript and the like count them: two for each outside the first plane."""
    return len(text) + sum(character > "\uffff" for character in text)


def fitting(blocks: Sequence[str], room: int) -> int:
    """How many of the blocks, from the first on, fit into ``room`` characters."""
    for number, block in enumerate(blocks):
        room -= size(block)
        if room < 0:
            return number
    return len(blocks)


_OPERATOR = re.compile(r"\b[A-Za-z_]\w*::\w+(?:\.\w+)*\*?", re.ASCII)
_MARKUP = re.compile(r"[\\`*_\[\]#~|$]")
_ACTIVE = re.compile(
    r"(?<=[@#])(?=\w)|(?<=:)(?=[\w+-]+:)|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=GH)(?=-)", re.IGNORECASE
)
"""Where a mention, a reference, an emoji or a link would begin: a hidden space stands there."""
_TICKS = re.compile("`+")
_HIDDEN = "&#8203;"
LONGEST = 400
"""Characters that are shown of one text."""


def prose(text: str) -> str:
    """Words of a sentence; operators in it stand out as code."""
    text, told, end = shortened(tell(text)), [], 0
    for found in _OPERATOR.finditer(text):
        told += [_plain(text[end : found.start()]), code(found.group())]
        end = found.end()
    return "".join([*told, _plain(text[end:])])


def colon() -> str:
    """What stands between a label and what is said."""
    return tell(": ")


def comma() -> str:
    """What stands between a heading and what it means."""
    return tell(", ")


def code(text: str) -> str:
    """A code span; fenced by more backticks than it holds, so that none of them ends it."""
    text = shortened(text)
    if not text.strip():
        return ""
    runs = {len(run) for run in _TICKS.findall(text)}
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    space = " " if text[0] in " `" or text[-1] in " `" else ""
    return f"{fence}{space}{text}{space}{fence}"


def markup(text: str) -> str:
    """Words in a line of HTML, where Markdown is not read."""
    return _ACTIVE.sub("\0", _entities(shortened(tell(text)))).replace("\0", _HIDDEN)


def cell(markdown: str) -> str:
    """What stands in a table, where even code must not hold a bare bar."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def shortened(text: str) -> str:
    """On one line, and cut where it is far too long to be read."""
    text = one_line(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(text: str) -> str:
    text = _MARKUP.sub(r"\\\g<0>", _entities(_ACTIVE.sub("\0", text)))
    return text.replace("\0", _HIDDEN)


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
