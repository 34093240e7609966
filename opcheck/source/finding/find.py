"""All that can be checked in a folder; its files are read, and none of them is run."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from opcheck.files import read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.model.project import Candidate, Found
from opcheck.source.finding import other_sources
from opcheck.source.finding.facts import FileFacts, UnreadableError, facts_of
from opcheck.source.finding.folders import MOST, listing
from opcheck.source.finding.python_sources import PythonSources
from opcheck.source.notebook import SUFFIX as NOTEBOOK

LARGEST = 1 << 20
"""Bytes of a Python file; what is larger was written by a program."""
MOST_PYTHON, MOST_PYTHON_BYTES = 4_000, 48 << 20
"""Python files that are read, and bytes of all together."""
MOST_NOTEBOOKS, LARGEST_NOTEBOOK = 200, 16 << 20
MOST_SAVED = 200
"""Files of weights and models that are looked into."""
MOST_FOUND = 200
"""Sources that are listed."""


def find(folder: Path) -> Found:
    """What of a folder can be checked, and what of it was not read."""
    listed = listing(folder)
    notes: list[Sentence] = []
    if not listed.whole:
        notes.append(
            Sentence("more than {count} files and folders: not all were read", count=f"{MOST:,}")
        )
    if listed.odd:
        several = "{count} files have names that no source can have"
        one = "{count} file has a name that no source can have"
        notes.append(Sentence(one if listed.odd == 1 else several, count=f"{listed.odd:,}"))
    python = _read(folder, listed.files, notes)
    found = [
        *_of_code(folder, python),
        *_notebooks(folder, listed.files),
        *other_sources.configs(folder, listed.files),
        *_saved(folder, listed.files, notes),
    ]
    # one source for each: a folder may have several configs
    distinct = {one.source: one for one in sorted(found, key=_place)}
    kept = tuple(distinct.values())
    if len(kept) > MOST_FOUND:
        more = len(kept) - MOST_FOUND
        notes.append(Sentence("{count} more sources are not listed", count=f"{more:,}"))
    return Found(kept[:MOST_FOUND], tuple(notes))


def _place(one: Candidate) -> tuple[bool, str, int]:
    return one.is_script, one.source.partition(":")[0], one.line


def _read(folder: Path, files: Sequence[str], notes: list[Sentence]) -> Mapping[str, FileFacts]:
    """The facts of each Python file; of what cannot be read a note."""
    found: dict[str, FileFacts] = {}
    left = MOST_PYTHON_BYTES
    paths = [path for path in files if path.endswith(".py")]
    for number, path in enumerate(paths):
        if number == MOST_PYTHON or left <= 0:
            count = f"{len(paths) - number:,}"
            notes.append(Sentence("{count} Python files were not read", count=count))
            break
        try:
            text = read_bytes(folder / path, LARGEST)
            left -= len(text)
            found[path] = facts_of(path, text)
        except OSError as error:
            notes.append(
                Sentence("cannot read {text_file}: {text}", text_file=path, text=error.strerror)
            )
        except UnreadableError as error:
            notes.append(Sentence("{text_file} is not valid Python", text_file=error))
    return found


def _of_code(folder: Path, python: Mapping[str, FileFacts]) -> Iterator[Candidate]:
    models = PythonSources(python)
    for file in python.values():
        yield from models.candidates(file)
        yield from other_sources.python_configs(folder, file)
        script = other_sources.script(file)
        if script is not None:
            yield script


def _notebooks(folder: Path, files: Sequence[str]) -> Iterator[Candidate]:
    for path in [path for path in files if path.endswith(NOTEBOOK)][:MOST_NOTEBOOKS]:
        try:
            if (folder / path).stat().st_size > LARGEST_NOTEBOOK:
                continue
        except OSError:
            continue
        facts = other_sources.notebook_facts(folder, path)
        script = other_sources.script(facts, is_notebook=True) if facts else None
        if script is not None:
            yield script


def _saved(folder: Path, files: Sequence[str], notes: list[Sentence]) -> Iterator[Candidate]:
    looked = 0
    for path in files:
        found = other_sources.saved(folder, path) if looked < MOST_SAVED else None
        looked += found is not None
        if isinstance(found, Candidate):
            yield found
        elif found is not None:
            notes.append(found)
