"""A newer release of a vendor: its files taken from checkouts, as those of the last one were."""

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db import importing
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared.repository import Repository
from opcheck.errors import DatabaseError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.database import CollectedFile

_INDEX = "SOURCES.yaml"
_PACKED = ".gz"


class Collected(Struct, frozen=True):
    """What checkouts gave for a release."""

    folder: Path
    before: str
    """The release that it was taken after."""
    files: tuple[CollectedFile, ...]
    by_hand: tuple[str, ...]
    """Files of the release before that are no plain copies, or that no checkout has any more."""


def collect(
    vendor: str, sources: Path, release: str, checkouts: Sequence[Path], revision: str = ""
) -> Collected:
    """Put into ``sources`` the files of a release that the last one there has, and note them.

    ``revision`` names it in the checkouts; without, it is named as the last one was.

    Raises:
        UsageError: the vendor has no importer, or its folder is not there.
        DatabaseError: no checkout has any of the files.
    """
    importer = importing.importer_of(vendor)
    folder = _folder(vendor, sources)
    known = [one for one in importer.releases(folder.parent) if one != release]
    if not known:
        raise UsageError(
            Sentence("no release of {vendor} to go by in {text}", vendor=vendor, text=folder),
            Sentence("bring the first one in with opcheck db import"),
        )
    before, found, by_hand = known[-1], list[CollectedFile](), list[str]()
    for entry in _entries(folder, before):
        taken = _taken(folder, entry, before, release, checkouts, revision)
        if taken is None:
            by_hand.append(str(entry["file"]))
        else:
            found.append(taken)
    if not found:
        raise DatabaseError(
            Sentence("no checkout has a file that {text} has of {version}", text=folder,
                     version=before),
            Sentence("name the release in the checkout with --revision"),
        )  # fmt: skip
    return Collected(folder, before, tuple(found), tuple(by_hand))


def _folder(vendor: str, sources: Path) -> Path:
    """The folder of a vendor's files: the one given, or the one in it that is called so."""
    inside = sorted(path.parent for path in sources.glob(f"*/{_INDEX}"))
    named = [path for path in inside if path.name == vendor]
    named += [path for path in inside if path.name.endswith(f"-{vendor}")]
    named += [path for path in inside if path.name.startswith(f"{vendor}-")]
    found = sources.resolve() if (sources / _INDEX).is_file() else next(iter(named), None)
    if found is None:
        raise UsageError(
            Sentence("no folder of vendor files: {text}", text=sources),
            Sentence("give the one with SOURCES.yaml"),
        )
    return found


def _entries(folder: Path, release: str) -> Iterator[Mapping[str, Any]]:
    """What the index says of each file that is of a release."""
    said = load_yaml(folder / _INDEX)
    for entry in said.get("files", said.get("sources", ())):
        named = str(entry.get("file", "")).partition("@")[2]
        if release in named and release in str(entry.get("ref", "")) and "commit" in entry:
            yield entry


def _taken(
    folder: Path, entry: Mapping[str, Any], before: str, release: str,
    checkouts: Sequence[Path], revision: str,
) -> CollectedFile | None:  # fmt: skip
    """A file of the new release, written; None where it has to be made by hand."""
    path, ref = str(entry.get("path", "")), str(entry["ref"])
    for checkout in checkouts:
        there = Repository(checkout, revision or ref.replace(before, release))
        old = there.blob(path, str(entry["commit"]))
        if not there.known or not there.blob(path) or not _copies(folder / entry["file"], old):
            continue
        name = str(entry["file"]).replace(before, release)
        _write(folder / name, there.text(path))
        made = CollectedFile(name, there.revision, there.commit, path, there.date)
        _note(folder / _INDEX, entry, made, there.blob(path))
        return made
    return None


def _copies(file: Path, blob: str) -> bool:
    """Whether a file is what git calls so: made of it in no other way."""
    data = file.read_bytes()
    data = gzip.decompress(data) if file.suffix == _PACKED else data
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob


def _write(path: Path, text: str) -> None:
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == _PACKED else data)


def _note(index: Path, entry: Mapping[str, Any], made: CollectedFile, blob: str) -> None:
    """Put what is known of a file behind that of the one before; what was there of it goes."""
    import yaml

    lines = _without(index.read_text(encoding="utf-8").splitlines(keepends=True), made.file)
    now = {"file": made.file, "ref": made.ref, "commit": made.commit, "blob": blob,
           "commit_date": made.date, "date": made.date}  # fmt: skip
    said = {key: now.get(key, value) for key, value in entry.items()}
    block = yaml.safe_dump([said], sort_keys=False, allow_unicode=True, width=10**6)
    _, end = _span(lines, str(entry["file"]))
    index.write_text("".join([*lines[:end], block, *lines[end:]]), encoding="utf-8")


def _without(lines: list[str], file: str) -> list[str]:
    start, end = _span(lines, file)
    return lines[:start] + lines[end:]


def _span(lines: Sequence[str], file: str) -> tuple[int, int]:
    """The lines of a file's entry; an empty span where it has none."""
    head = re.compile(rf"\s*- file: ['\"]?{re.escape(file)}['\"]?\s*")
    start = next((n for n, line in enumerate(lines) if head.fullmatch(line)), len(lines))
    inside = re.compile(r"\s+(?!- )\S.*\s*")
    end = start + 1
    while end < len(lines) and inside.fullmatch(lines[end]):
        end += 1
    return start, min(end, len(lines))
