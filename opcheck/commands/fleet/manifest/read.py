"""The manifest that a command line names: which models, with which options."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fleet.manifest.csv_file import read_csv
from opcheck.commands.fleet.manifest.expand import expand
from opcheck.commands.fleet.manifest.fields import Row, request_of
from opcheck.commands.fleet.manifest.yaml_file import read_yaml
from opcheck.commands.fleet.values import Entry
from opcheck.errors import UsageError
from opcheck.model.text import is_text

_READERS: Mapping[str, Callable[[Path], tuple[Row, ...]]] = {
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".csv": read_csv,
}
FORMS: Mapping[str, str] = {
    "models.yaml": "a list of sources, or of mappings: source, name, input, timeout, …",
    "models.csv": "a table with a column source, and others of the same names",
    "path/to/models": "every model in a folder",
    "exported/*.pt2": "every model that a pattern fits; ** fits folders of any depth",
    "timm:*, timm:resnet*": "every model of timm by name; torchvision:* likewise",
    "hf:path/to/configs/*": "every folder with a config.json",
}
"""MANIFEST as people write it -> what comes of it."""


class Manifest(Struct, frozen=True):
    """The models of a run."""

    text: str
    """As the user named it."""
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each."""


def read_manifest(text: str, default: Row | None = None, *, trust: bool = False) -> Manifest:
    """Read a manifest; what it does not say of a model is as in ``default``.

    ``trust`` is never said by a file: it holds for all models, or for none.

    Raises:
        UsageError: it cannot be read, or an entry of it cannot be understood.
        SourceError: the library that a pattern is for is not there.
    """
    path, reader = Path(text), _READERS.get(Path(text).suffix.lower())
    if reader is not None and ":" not in text.partition("/")[0]:
        rows, folder = reader(path), path.parent
    else:
        rows, folder = (Row(text, text),), Path()
    _require_text(text)
    given = {} if default is None else default.options
    entries: dict[str, Entry] = {}
    left_out: list[str] = []
    for row in rows:
        row = replace(row, options={**given, **row.options})
        made, others = _entries(row, folder, trust)
        left_out += others
        for entry in made:
            _add(entry, entries)
    notes = tuple(f"{path} is no model, and was left out" for path in dict.fromkeys(left_out))
    return Manifest(text, tuple(entries.values()), notes)


def _entries(row: Row, folder: Path, trust: bool) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    expanded = expand(row.source, folder)
    sources = expanded.sources
    for source in sources:
        _require_text(source)
    if row.name and sources != (row.source,) and len(sources) > 1:
        raise UsageError(
            f"{row.where}: one name for {len(sources)} models: {row.name!r}",
            "leave the name out where the source is a pattern",
        )
    return tuple(
        Entry(row.name or source, request_of(row, source, trust=trust), row.where)
        for source in sources
    ), expanded.left_out


def _require_text(name: str) -> None:
    """Refuse a name that a store cannot keep: file systems have some that are no Unicode."""
    if not is_text(name):
        raise UsageError(f"a name is no text in UTF-8: {name!r}", "give the file another name")


def _add(entry: Entry, entries: dict[str, Entry]) -> None:
    """Add an entry, or nothing where two patterns give the same."""
    there = entries.setdefault(entry.name, entry)
    if there.request != entry.request:
        raise UsageError(
            f"{entry.where}: a second model called {entry.name!r}, the first is at {there.where}",
            "give each a name of its own with name",
        )
