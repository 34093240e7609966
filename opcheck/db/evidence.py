"""Citations: ``source``, ``source:line``, ``source:path`` or ``source:path:line``.

A path stands for another file at the same commit, or in the folder that the source is.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from opcheck.model.verdict import Evidence, Method


class Citations:
    """Turns a file's citations into evidence, by its table of sources."""

    def __init__(self, sources: Mapping[str, Mapping[str, Any]]) -> None:
        self._sources = sources

    def all(self, citations: Iterable[str], method: Method) -> tuple[Evidence, ...]:
        """Evidence for each citation, in order; an unknown source is named as it stands."""
        return tuple(self._one(text, method) for text in citations)

    def _one(self, text: str, method: Method) -> Evidence:
        name, *rest = text.split(":")
        line = int(rest.pop()) if rest and rest[-1].isdigit() else None
        source = self._sources.get(name)
        if source is None:
            return Evidence(method, name, ":".join(rest), line)
        path = rest[0] if rest else source["path"]
        if rest and source["path"].endswith("/"):
            path = source["path"] + path
        return Evidence(
            method, source["repo"], path, line, source.get("commit", ""), source.get("date", ""),
            source.get("origin", ""),
        )  # fmt: skip
