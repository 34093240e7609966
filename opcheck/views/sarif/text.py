"""Texts and places as SARIF has them."""

import re
from urllib.parse import quote

from opcheck.views.document.parts import Json
from opcheck.views.problems import one_line

ROOT = "%SRCROOT%"
"""The base of every relative location, which a viewer puts where the repository is."""
_PLACEHOLDER = re.compile(r"\{[0-9]+\}")


def message(text: str) -> Json:
    """A message; a text that looks like a link or a placeholder stays the text that it is."""
    text = one_line(text)
    if "](" in text:
        text = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    if _PLACEHOLDER.search(text):
        text = text.replace("{", "{{").replace("}", "}}")
    return {"text": text}


def artifact(path: str) -> Json:
    """A file, relative to the repository unless its path is absolute."""
    uri = quote(one_line(path), safe="/", errors="replace")
    if uri.startswith("/"):
        return {"uri": f"file:///{uri.lstrip('/')}"}
    return {"uri": uri, "uriBaseId": ROOT}


def line(path: str, number: int) -> Json:
    """A line of a file."""
    return {"artifactLocation": artifact(path), "region": {"startLine": max(number, 1)}}
