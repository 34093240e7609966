"""Answers in a notebook: the text of a command's page, plain or as HTML.

The HTML is a fragment without scripts, and its colours are readable on white and on black: nothing
in it depends on the notebook's own styles.
"""

import html
import re
from collections.abc import Iterator
from typing import Any

from opcheck.views.formats import PLAIN, Page, command_view, report_view

_WIDTH = 100
"""Columns of a page in a notebook."""
_CODE = re.compile("\x1b\\[([\\d;]*)m")
_STYLES = {
    "1": "font-weight:bold",
    "2": "opacity:.7",
    "31": "color:#e23232",
    "32": "color:#18893e",
    "33": "color:#a06d08",
    "34": "color:#2374e7",
    "35": "color:#bc3fc7",
    "36": "color:#08839b",
}
"""What a page of a terminal has of ANSI's codes."""
_PRE = (
    "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.35;font-family:monospace;"
    "background:none;color:inherit"
)


def as_text(answer: Any, command: str) -> str:
    """The page of an answer without colour, as it is in IPython."""
    return _page(answer, command, PLAIN).rstrip("\n")


def as_html(answer: Any, command: str) -> str:
    """The page of an answer as HTML, as it is in Jupyter."""
    text = _page(answer, command, Page(_WIDTH, color=True)).rstrip("\n")
    return f'<pre style="{_PRE}">{"".join(_spans(text))}</pre>'


def _page(answer: Any, command: str, page: Page) -> str:
    view = command_view(command, "text") if command else report_view("text")
    return view.render(answer, page)


def _spans(text: str) -> Iterator[str]:
    """Runs of a text with ANSI's codes, each with its style; everything else is escaped."""
    style = ""
    for place, part in enumerate(_CODE.split(text)):
        if place % 2:  # the codes of a style, which ends the one before
            style = ";".join(_STYLES[code] for code in part.split(";") if code in _STYLES)
        elif part:
            escaped = html.escape(part)
            yield f'<span style="{style}">{escaped}</span>' if style else escaped
