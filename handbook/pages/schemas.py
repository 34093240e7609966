"""The documents that opcheck writes, by their JSON schemas."""

from collections.abc import Iterator
from pathlib import Path

from handbook.base import Page, plain, table
from handbook.schema import FILES, keys, parts, read

_HEAD = """\
# Documents and their schemas

What `--format json` writes, each by a JSON schema that every document is validated against in the
tests. A new key, or a changed meaning, is a new version. Keys are there unless *or absent* is said.
"""
FIRST = "opcheck.report-1"
"""The document that most read."""


class Schemas(Page):
    """``reference/schemas.md``."""

    name = "schemas"

    def text(self) -> str:
        """Every schema with its keys, the report first."""
        files = sorted(FILES, key=lambda path: (path.stem != FIRST, path.stem))
        rows = ([f"[{title}](#{_anchor(title)})", text] for title, text in map(_told, files))
        index = table(["document", ""], rows)
        return "\n".join([_HEAD, index, *(part for path in files for part in _parts(path))])


def _told(path: Path) -> tuple[str, str]:
    schema = read(path)
    return schema["title"], plain(schema.get("description", ""))


def _parts(path: Path) -> Iterator[str]:
    schema = read(path)
    title = schema["title"]
    prefix = f"{_anchor(title)}-"
    yield f"## {title} {{ #{_anchor(title)} }}\n"
    yield f"{plain(schema.get('description', ''))}\n\n[{path.name}](../schema/{path.name})\n"
    yield keys(schema, f"#{prefix}")
    yield from parts(schema, prefix)


def _anchor(title: str) -> str:
    return title.replace(".", "-").replace("/", "-")
