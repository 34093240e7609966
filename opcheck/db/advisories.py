"""Advisories: operators that run and give wrong results, crash or hang, as conditions.

They are kept like security advisories, by hand, one file each, with the threads that tell of them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opcheck.db import document
from opcheck.db.addition import Addition
from opcheck.db.document import Document
from opcheck.db.layers import Layer
from opcheck.db.overlay import ADVISORIES
from opcheck.db.shapes.additions import ADVISORY_FILE
from opcheck.errors import DatabaseError
from opcheck.model.verdict import Verdict

_HINT = "correct the advisory, or restore it from the release"


def documents(layer: Layer, cache: Path | None) -> Iterator[Document]:
    """The advisory files of a layer, by name."""
    for path in sorted((layer.folder / ADVISORIES).glob("*.yaml")):
        found = document.read(path, ADVISORY_FILE, cache, _HINT)
        if found.data["id"] != path.stem:
            message = f"{path}:1: expected the id {path.stem}, found {found.data['id']!r}"
            raise DatabaseError(message, _HINT)
        yield found


def advisories(layer: Layer, cache: Path | None) -> Iterator[Addition]:
    """What the advisories of a layer add to the conditions of each vendor that they affect."""
    for found in documents(layer, cache):
        sources = {str(n): _source(said) for n, said in enumerate(found.data["references"])}
        for affected in found.data["affects"]:
            yield Addition(
                vendor=affected["vendor"],
                origin=layer.of(found.path),
                reason=" ".join(found.data["reason"].split()),
                digest=found.digest,
                method=found.data["method"],
                sources=sources,
                where={key: value for key, value in affected.items() if key != "vendor"},
                conditions=list(_conditions(found.data, list(sources))),
            )


def sentence(said: Mapping[str, Any]) -> str:
    """What a use is told: what goes wrong, where that is fixed, and what to do."""
    fixed = f", fixed in {said['fixed_in']}" if "fixed_in" in said else ""
    text = f"{' '.join(said['text'].split())} (advisory {said['id']}{fixed})"
    return f"{text}; {said['workaround']}" if "workaround" in said else text


def _conditions(said: Mapping[str, Any], cited: list[str]) -> Iterator[dict[str, Any]]:
    for use in said["uses"]:
        yield {
            "ops": use["ops"],
            "code": said["id"],
            "verdict": Verdict.NATIVE.value,
            "confidence": said["confidence"],
            "method": said["method"],
            "text": sentence(said),
            "harmful": True,
            "at": cited,
            "tests": use.get("tests", []),
        }


def _source(reference: Mapping[str, str]) -> dict[str, str]:
    """Where an address leads, as a table of sources has it: a repository and what is in it."""
    address = urlsplit(reference["url"])
    path = address.path.strip("/")
    repository, name = address.netloc, path
    if address.netloc in ("github.com", "gitee.com") and path.count("/") > 1:
        owner, project, name = path.split("/", 2)
        repository = f"{owner}/{project}"
    return {"repo": repository, "ref": name, "commit": "", "path": name, "date": reference["date"]}
