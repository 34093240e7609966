"""The JSON inside a ``.pt2`` archive: found, bounded, parsed, and of a version we can read."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.archive import Archive, open_archive

SCHEMA_MAJORS = range(5, 9)
"""Major versions of torch/_export/serde/schema.py that the readers follow: torch 2.3 to 2.15."""
_OLDEST_TORCH = "2.3"
"""torch that wrote the first of them."""
DEFAULT_MODEL = "model"
"""The name that torch.export.save gives the one program that it saves."""

_VERSION = re.compile(r"\d{1,4}\.\d{1,4}[\w.+-]{0,80}", re.ASCII)
_PROGRAM = re.compile(r"(?:[^/]+/)?models/(?P<name>[^/]+)\.json")
_PROGRAM_UNTIL_2_7 = "serialized_exported_program.json"
_COMPILED = re.compile(r"(?:[^/]+/)?data/aotinductor/.+")
_TORCHSCRIPT = re.compile(r"(?:[^/]+/)?constants\.pkl")
_STATE_DICT = re.compile(r"(?:[^/]+/)?data\.pkl")
_SAVE_AGAIN = Sentence("save the model again with torch.export.save")


class ProgramFile(Struct, frozen=True):
    """One exported program, its graph still as JSON."""

    path: Path
    member: str
    """Where in the archive the JSON lies, for messages."""
    content: bytes
    document: dict[str, Any]
    """``content`` parsed: the ``ExportedProgram`` of torch's export schema."""
    schema: tuple[int, int]
    """Version of the export schema, major and minor."""
    torch_version: str
    """torch that wrote the file, as ``2.13.0``; empty where the file does not say."""
    notes: tuple[str, ...]

    @property
    def digest(self) -> str:
        """sha256 of the program, first 16 hex digits; the weights beside it play no part."""
        return hashlib.sha256(self.content).hexdigest()[:16]


def read_program(path: Path) -> ProgramFile:
    """Read the one exported program of a ``.pt2`` file; its pickled parts are not touched."""
    with open_archive(path) as archive:
        member, notes = _find_program(archive)
        content = archive.read(member)
    document = _parse_json(path, member, content)
    wrote = _text(document, "torch_version").removeprefix("<=")
    if not _VERSION.fullmatch(wrote):
        wrote = ""  # it is looked for among names of files, and shown
    schema = _schema_version(path, member, document, wrote)
    if not wrote:
        notes = (*notes, "the file does not say which torch wrote it")
    return ProgramFile(
        path, member, content, document, schema, wrote.partition("+")[0], tuple(notes)
    )


def damaged(path: Path, member: str, what: Sentence) -> SourceError:
    """The error for a program whose JSON is not what its schema version says."""
    return SourceError(
        Sentence("{text_file}: {member}: {said}", text_file=path, member=member, said=what),
        _SAVE_AGAIN,
    )


def _find_program(archive: Archive) -> tuple[str, tuple[str, ...]]:
    """The member that holds the program, and what else the reader should know."""
    if _PROGRAM_UNTIL_2_7 in archive.members:
        return _PROGRAM_UNTIL_2_7, ()
    found = {m["name"]: m[0] for m in map(_PROGRAM.fullmatch, archive.members) if m}
    if len(found) == 1:
        return next(iter(found.values())), ()
    if not found:
        raise _no_program(archive)
    names = ", ".join(sorted(found))
    if DEFAULT_MODEL not in found:
        raise SourceError(
            Sentence(
                "{text_file}: holds {count} exported programs: {list}",
                text_file=archive.path,
                count=len(found),
                list=names,
            ),
            Sentence("save one alone, or name the one to scan {name}", name=repr(DEFAULT_MODEL)),
        )
    note = Sentence(
        "the archive holds {count} exported programs ({list}); {name} was read",
        count=len(found),
        list=names,
        name=repr(DEFAULT_MODEL),
    )
    return found[DEFAULT_MODEL], (note,)


def _no_program(archive: Archive) -> SourceError:
    """Say what the archive is instead of an exported program."""

    def holds(pattern: re.Pattern[str]) -> bool:
        return any(map(pattern.fullmatch, archive.members))

    if holds(_COMPILED):
        return SourceError(
            Sentence(
                "{text_file}: an AOTInductor package, compiled code without its graph",
                text_file=archive.path,
            ),
            Sentence("give the .pt2 that torch.export.save wrote before compiling"),
        )
    if holds(_TORCHSCRIPT):
        return SourceError(
            Sentence(
                "{text_file}: a TorchScript archive, not a torch.export one", text_file=archive.path
            ),
            Sentence("name it model.pt"),
        )
    if holds(_STATE_DICT):
        return SourceError(
            Sentence(
                "{text_file}: saved by torch.save (weights or a pickled module), not "
                "by torch.export.save",
                text_file=archive.path,
            ),
            Sentence("give a factory instead: path/to/file.py:name"),
        )
    return SourceError(
        Sentence(
            "{text}: a zip archive without a model in it (no models/*.json and no {name})",
            text=archive.path,
            name=_PROGRAM_UNTIL_2_7,
        ),
        Sentence("give a file that torch.export.save wrote"),
    )


def _parse_json(path: Path, member: str, content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise damaged(
            path, member, Sentence("not JSON at {place}: {text}", place=place, text=error.msg)
        ) from error
    except ValueError as error:  # not UTF-8, or a number of thousands of digits
        raise damaged(path, member, Sentence("not readable JSON: {text}", text=error)) from error
    except RecursionError as error:
        raise damaged(path, member, Sentence("nested too deeply to be a model")) from error
    if not isinstance(document, dict):
        raise damaged(path, member, Sentence("expected a JSON object, the exported program"))
    return document


def _schema_version(
    path: Path, member: str, document: dict[str, Any], wrote: str
) -> tuple[int, int]:
    version = document.get("schema_version")
    if isinstance(version, int):  # torch 2.1 and 2.2 wrote one number
        version = {"major": version, "minor": 0}
    if not isinstance(version, dict):
        raise damaged(
            path, member, Sentence("has no schema_version, so it is not an exported program")
        )
    major, minor = version.get("major"), version.get("minor")
    if not (isinstance(major, int) and isinstance(minor, int)):
        raise damaged(
            path, member, Sentence("schema_version is {text}, expected numbers", text=version)
        )
    if major not in SCHEMA_MAJORS:
        newest = SCHEMA_MAJORS[-1]
        by = Sentence("torch {version}", version=wrote) if wrote else Sentence("an unnamed torch")
        raise SourceError(
            Sentence(
                "{text_file}: written by {said} in export schema {major}.{minor}; "
                "this opcheck reads {first} to {last}",
                text_file=path,
                said=by,
                major=major,
                minor=minor,
                first=SCHEMA_MAJORS[0],
                last=newest,
            ),
            Sentence("update opcheck")
            if major > newest
            else Sentence(
                "export the model again with torch {version} or newer", version=_OLDEST_TORCH
            ),
        )
    return major, minor


def _text(document: dict[str, Any], key: str) -> str:
    value = document.get(key, "")
    return value if isinstance(value, str) else ""
