"""Where on the web a fact can be read."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from opcheck.model.verdict import Evidence

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_REPOSITORY = re.compile(r"[\w-]+/[\w.-]+")
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+")
_THREAD = re.compile(r"(issues|pull)/\d+")
_FILE = re.compile(r"[^\s,*?{}()]+")
"""A path, and not a description of several."""
_PACKAGED: Mapping[str, str] = {
    "torchgen/packaged/ATen/": "aten/src/ATen/",
    "torchgen/packaged/autograd/": "tools/autograd/",
}
"""Where PyTorch's wheels have what the repository has elsewhere."""


def web_address(fact: Evidence) -> str:
    """The page that shows it, at its commit and line; "" where there is none to be sure of."""
    if not _FILE.fullmatch(fact.path):
        return ""
    if _HOST.fullmatch(fact.source):
        return f"https://{fact.source}/{_quoted(fact.path)}"
    if not _REPOSITORY.fullmatch(fact.source):
        return ""
    repository = f"https://github.com/{fact.source}"
    if not fact.commit:
        return f"{repository}/{fact.path}" if _THREAD.fullmatch(fact.path) else ""
    if not _COMMIT.fullmatch(fact.commit):
        return ""
    line = "" if fact.line is None else f"#L{fact.line}"
    return f"{repository}/blob/{fact.commit}/{_quoted(_in_repository(fact.path))}{line}"


def _in_repository(path: str) -> str:
    for there, here in _PACKAGED.items():
        if path.startswith(there):
            return here + path.removeprefix(there)
    return path


def _quoted(path: str) -> str:
    """As in an address; what is no Unicode, as a report from a file may have it, is replaced."""
    return quote(path, errors="replace")
