"""What a page made from the code is, and which there are."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import handbook.pages
from opcheck.registry import discover


class Page(ABC):
    """One page of the reference; a file in ``handbook/pages`` is all that a new one needs."""

    name: ClassVar[str]
    """Its file below ``reference/``, without ``.md``."""

    @abstractmethod
    def text(self) -> str:
        """Give the whole page as Markdown that ends in a newline."""

    @property
    def path(self) -> str:
        """Where it is in the site's sources."""
        return f"reference/{self.name}.md"


def pages() -> tuple[Page, ...]:
    """Every page, by name."""
    return tuple(kind() for kind in discover(handbook.pages, Page))  # type: ignore[type-abstract]  # only subclasses come


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a table; what would end a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def code(text: str) -> str:
    """Give text as code within a line, whatever backticks it has."""
    fence = "`" if "`" not in text else "``"
    return f"{fence}{text}{fence}" if text else ""


def plain(text: str) -> str:
    """Give text in which nothing is markup."""
    return re.sub(r"([*_<\[\]`\\])", r"\\\1", text)


def _cell(text: str) -> str:
    """Escape what would end it: Python-Markdown takes a bar within code for itself, as it is."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else part.replace("|", "\\|") for part in parts)
