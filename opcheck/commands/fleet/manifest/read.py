"""The manifest that a command line names: its models, those of folders and patterns as well."""

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fleet import subcommands
from opcheck.commands.fleet.manifest.rows import Row, read_csv, read_yaml, request_of
from opcheck.commands.fleet.manifest.scripts import script_entry
from opcheck.commands.fleet.values import Entry
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.text import is_text
from opcheck.sandbox.parent.run import names_of
from opcheck.source.kinds.python_file import PythonFile
from opcheck.source.load import kinds, select
from opcheck.source.model_folder import CONFIG, INDEX

_WILD = re.compile(r"[*?\[]")
_DEEP = re.compile(r"(?:(?<=/)|^)(\*\*)(?:/|$)")
_WORD = re.compile(r"[\w-]+")
_HF = "hf:"
_MOST = 20_000
"""Files and folders that are looked at for one source: a manifest may say ``/``."""


class Expanded(Struct, frozen=True):
    """The sources that one stands for."""

    sources: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Files that a pattern fits and that are no models."""


def expand(source: str, folder: Path) -> Expanded:
    """The sources that one stands for; ``folder`` is where its paths begin.

    Raises:
        UsageError: nothing fits.
        SourceError: the library that a pattern is for is not there.
    """
    prefix, colon, pattern = source.partition(":")
    kind = next((kind for kind in kinds() if colon and kind.name == prefix), None)
    if source.startswith(_HF):
        return _configs(source, _within(folder, pattern))
    if kind is None:
        return _models(_within(folder, source))
    if not (kind.lists and _WILD.search(pattern)):
        return Expanded((source,))
    known = names_of(prefix)
    names = tuple(f"{prefix}:{name}" for name in known if fnmatchcase(name, pattern))
    if not names:
        raise UsageError(
            Sentence("{text}: {name} has no such model", text=source, name=prefix),
            Sentence("it has {count} of them", count=len(known)),
        )
    return Expanded(names)


def _within(folder: Path, path: str) -> str:
    """A path of a manifest as it is from here."""
    if os.path.isabs(path) or folder.resolve() == Path.cwd():
        return path
    return os.path.normpath(os.path.join(folder, path))


def _configs(source: str, path: str) -> Expanded:
    """``hf:`` and a folder with a config, or a pattern for such folders."""
    if not _WILD.search(path):
        return Expanded((f"{_HF}{path}",))
    found = _fitting(path)
    models = [
        one for one in found if os.path.basename(one) == CONFIG or _is_model_folder(one, CONFIG)
    ]
    if not models:
        raise UsageError(
            Sentence("{text}: no folder with a {name}", text=source, name=CONFIG),
            Sentence("it fits {count} files and folders", count=len(found)),
        )
    return Expanded(tuple(f"{_HF}{one}" for one in models))


def _models(path: str) -> Expanded:
    if _WILD.search(path):
        found = _fitting(path)
        models = {one: None for one in found if _is_model(one)}
        others = [one for one in found if one not in models and not os.path.isdir(one)]
        if not models:
            raise UsageError(
                Sentence("{text}: fits no model", text=path),
                Sentence("it fits {count} files and folders", count=len(found)),
            )
        return Expanded(tuple(models), tuple(others))
    if not os.path.isdir(path) or _is_model(path):
        return Expanded((path,))
    inside = tuple(_inside(path))
    if not inside:
        raise UsageError(
            Sentence("{text}: there is no model in this folder", text=path),
            Sentence("models in Python files are named one by one, as models.py:build"),
        )
    return Expanded(inside)


def _fitting(pattern: str) -> list[str]:
    """The paths that a pattern fits, in order; ``**`` stands for folders at any depth."""
    found: set[str] = set()
    for seen, paths in enumerate(_looked_at(pattern), 1):
        _require_few(pattern, seen)
        found.update(paths)
    return sorted(found)


def _looked_at(pattern: str) -> Iterator[tuple[str, ...]]:
    """A path that fits, or () for one that was only passed: links and hidden folders are not."""
    above, deep, below = _DEEP.split(pattern, 1) if _DEEP.search(pattern) else (pattern, "", "")
    if not deep:
        yield from ((path,) for path in glob.iglob(pattern))
        return
    for root in glob.iglob(above or os.curdir):
        for parent, folders, files in os.walk(root):
            folders[:] = (name for name in folders if not name.startswith("."))
            yield from (() for _ in (parent, *files))
            yield from _looked_at(os.path.join(glob.escape(parent), below or "*"))


def _require_few(path: str, many: int) -> None:
    if many > _MOST:
        raise UsageError(
            Sentence(
                "{text_path}: has more than {count} files and folders",
                text_path=path,
                count=f"{_MOST:,}",
            ),
            Sentence("name a folder with models in it"),
        )


def _inside(folder: str) -> Iterator[str]:
    """The models below a folder, each of its own folder or file, in order; none that is hidden."""
    seen = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = (name for name in folders if not name.startswith("."))
        files[:] = (name for name in files if not name.startswith("."))
        seen += 1 + len(files)
        _require_few(folder, seen)
        if _is_model(parent):
            folders.clear()
            yield parent
            continue
        folders.sort()
        paths = (os.path.join(parent, name) for name in sorted(files))
        yield from (path for path in paths if _is_model(path))


def _is_model_folder(path: str, *names: str) -> bool:
    return any(os.path.isfile(os.path.join(path, name)) for name in names)


def _is_model(path: str) -> bool:
    """Whether a file or folder is one that a kind of source claims, as it stands."""
    if os.path.isdir(path):
        return _is_model_folder(path, CONFIG, INDEX)
    try:
        return not isinstance(select(path), PythonFile) and not path.endswith(".json")
    except OpcheckError:
        return False


_READERS: Mapping[str, Callable[[Path], tuple[Row, ...]]] = {
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".csv": read_csv,
}
FORMS: Mapping[str, str] = {
    "models.yaml": "a list of sources, or of mappings: source or script, name, timeout, …",
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
        _require_meant(text)
        rows, folder = (Row(text, text),), Path()
    _require_text(text)
    given = {} if default is None else default.options
    entries, left_out = entries_of(rows, folder, given, trust=trust)
    notes = tuple(
        Sentence("{text} is no model, and was left out", text=path)
        for path in dict.fromkeys(left_out)
    )
    return Manifest(text, entries, notes)


def entries_of(
    rows: Sequence[Row], folder: Path, given: Mapping[str, Any], *, trust: bool
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """What rows name, each once, and files that a pattern fits and that are no models.

    ``folder`` is where paths begin; what a row does not say is as in ``given``.

    Raises:
        UsageError: an entry cannot be understood, or two have one name.
        SourceError: the library that a pattern is for is not there.
    """
    entries: dict[str, Entry] = {}
    left_out: list[str] = []
    for row in rows:
        row = replace(row, options={**given, **row.options})
        if row.script is not None:
            _add(script_entry(row, lambda path: _within(folder, path)), entries)
            continue
        made, others = _entries(row, folder, trust)
        left_out += others
        for entry in made:
            _add(entry, entries)
    return tuple(entries.values()), tuple(left_out)


def _entries(row: Row, folder: Path, trust: bool) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    expanded = expand(row.source, folder)
    sources = expanded.sources
    for source in sources:
        _require_text(source)
    if row.name and sources != (row.source,) and len(sources) > 1:
        raise UsageError(
            Sentence(
                "{text}: one name for {count} models: {text_name}",
                text=row.where,
                count=len(sources),
                text_name=repr(row.name),
            ),
            Sentence("leave the name out where the source is a pattern"),
        )
    return tuple(
        Entry(row.name or source, request_of(row, source, trust=trust), row.where)
        for source in sources
    ), expanded.left_out


def _require_meant(text: str) -> None:
    """Refuse a word that names nothing: in a list it would be one more model without an answer."""
    if not _WORD.fullmatch(text) or os.path.lexists(text):
        return
    commands = [found.name for found in iter_modules(subcommands.__path__)]
    near = get_close_matches(text, commands, 1)
    raise UsageError(
        Sentence("{text} is no list, no model source and no command of opcheck fleet", text=text),
        Sentence("did you mean opcheck fleet {name}?", name=near[0])
        if near
        else Sentence("opcheck fleet --help has all forms of MANIFEST and all commands"),
    )


def _require_text(name: str) -> None:
    """Refuse a name that a store cannot keep: file systems have some that are no Unicode."""
    if not is_text(name):
        raise UsageError(
            Sentence("a name is no text in UTF-8: {name}", name=repr(name)),
            Sentence("give the file another name"),
        )


def _add(entry: Entry, entries: dict[str, Entry]) -> None:
    """Add an entry, or nothing where two patterns give the same."""
    there = entries.setdefault(entry.name, entry)
    if (there.request, there.script) != (entry.request, entry.script):
        raise UsageError(
            Sentence(
                "{text}: a second model called {text_name}, the first is at {text_where}",
                text=entry.where,
                text_name=repr(entry.name),
                text_where=there.where,
            ),
            Sentence("give each a name of its own with name"),
        )
