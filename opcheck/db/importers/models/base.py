"""What every reader of a list offers - files of a repository at a commit, and the text it gives."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared.repository import Repository
from opcheck.db.schema.model_lists import MODELS
from opcheck.model.model_lists import Outcome

Row = Mapping[str, Any]
"""One row, as the file's shape wants it."""


class ListReader(ABC):
    """Reads a list of models from a repository; the same commit gives the same bytes."""

    name: str
    """Of the file in ``compat_db/models``, and as people know the list."""
    repo: str
    """``owner/name`` on GitHub."""
    vendor: str
    engine: str
    method = "documented"
    """How the rows are known."""
    chips: tuple[str, ...] = ()
    """Of every row that names none."""
    other_chips: Mapping[str, str] = {}
    """Chips that the database has no target for, with their names."""

    @abstractmethod
    def sources(self, repository: Repository) -> Mapping[str, str]:
        """Short name of each file that rows cite -> its path."""

    @abstractmethod
    def rows(self, repository: Repository) -> Iterator[Row]:
        """What the list says of each model, in its order."""

    def run(self, repository: Repository) -> str:
        """Give the text of ``compat_db/models/<name>.yaml``."""
        return "\n".join(self._lines(repository)) + "\n"

    def _lines(self, repository: Repository) -> Iterator[str]:
        rows = tuple(_shortened(row) for row in self.rows(repository))
        yield f"# Models that {self.repo} lists. Written by"
        yield f"# `python -m opcheck.db.importers.models {self.name} GIT-DIR`; do not edit."
        yield f"schema: {MODELS}"
        yield f"name: {self.name}"
        yield f"vendor: {self.vendor}"
        yield f"engine: {yaml_writer.scalar(self.engine)}"
        yield f"release: {yaml_writer.scalar(repository.revision)}"
        yield f"method: {self.method}"
        if self.chips:
            yield f"chips: {yaml_writer.flow(self.chips)}"
        if self.other_chips:
            yield from yaml_writer.section("other_chips", self.other_chips)
        cited = {
            key: {
                "repo": self.repo, "ref": repository.revision, "commit": repository.commit,
                "path": path, "date": repository.date,
            }
            for key, path in self.sources(repository).items()
            if key in {row["at"].partition(":")[0] for row in rows}
        }  # fmt: skip
        yield from yaml_writer.section("sources", cited)
        yield from yaml_writer.listing("models", rows, _ABOUT)
        yield from yaml_writer.end()


_ABOUT = "says: whatever the precision; in: of each; mode: if not inference."


def _shortened(row: Row) -> Row:
    return {key: said for key, said in row.items() if said}


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; [] for another line."""
    text = line.strip()
    if not text.startswith("|") or set(text) <= set("|-: "):
        return []
    return [cell.strip() for cell in text.strip("|").split("|")]


def tables(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Every row of every Markdown table: its line, 1-based, and its cells by the columns' heads."""
    head: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = cells(line)
        if not found:
            head = head if line.strip().startswith("|") else []
        elif not head:
            head = found
        else:
            yield number, dict(zip(head, found, strict=False))


def by_outcome(said: Iterable[tuple[str, Outcome | None]]) -> Mapping[str, list[str]]:
    """Precisions by what is said of each, the best outcome first."""
    found: dict[Outcome, list[str]] = {}
    for precision, outcome in said:
        if outcome is not None:
            found.setdefault(outcome, []).append(precision)
    return {str(outcome): found[outcome] for outcome in Outcome if outcome in found}


@cache
def _families() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    said = load_yaml(Path(__file__).parent / "families.yaml")
    return tuple((re.compile(key), tuple(types)) for key, types in said["families"].items())


def types_of(*names: str) -> list[str]:
    """The ``model_type`` of the models that people call so; [] where none is known."""
    found: dict[str, None] = {}
    for name in names:
        plain = name.strip().lower().replace("_", "-").replace(" ", "-")
        found |= dict.fromkeys(_family(plain) or _family(plain.rpartition("/")[2]))
    return list(found)


def _family(name: str) -> tuple[str, ...]:
    return next((types for key, types in _families() if key.fullmatch(name)), ())
