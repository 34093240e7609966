"""Advisories, remedies, and how targets take changing sizes - kept by hand, one file each."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from opcheck.db.by_hand.overlays import ADVISORIES, DYNAMIC, REMEDIES, Addition, holds
from opcheck.db.files.document import Document
from opcheck.db.files.folder import read_folder
from opcheck.db.files.layers import Layer
from opcheck.db.files.parts import Later, Lines
from opcheck.db.reading import Citations, LateMapping
from opcheck.db.schema.additions import ADVISORY_FILE, DYNAMIC_FILE, ENDINGS, MILD, REMEDY_FILE
from opcheck.db.schema.checks import Record
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence, from_data
from opcheck.model.dynamic import SiteKind, SizeRule, Taking
from opcheck.model.plan import Label, Remedy
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Method, Verdict

_BEYOND = re.compile(r"[?#]")
"""What begins the part of an address that is no path."""
_ADVISORY_HINT = Sentence("correct the advisory, or restore it from the release")


def documents(layer: Layer, cache: Path | None) -> list[Document]:
    """The advisory files of a layer."""
    return [*shared(layer, cache), *of_vendors(layer, cache)]


def shared(layer: Layer, cache: Path | None) -> list[Document]:
    """Those of several vendors, which stand beside the folders of those of one."""
    return [*_named(layer.folder / ADVISORIES, ADVISORY_FILE, cache, _ADVISORY_HINT)]


def of_vendors(layer: Layer, cache: Path | None, only: str | None = None) -> Iterator[Document]:
    """Those of one vendor alone, of each or of ``only``; the folder is named as the vendor."""
    folders = filter(Path.is_dir, (layer.folder / ADVISORIES).glob(only or "*"))
    for folder in sorted(folders):
        vendor = folder.name
        for found in _named(folder, ADVISORY_FILE, cache, _ADVISORY_HINT):
            others = {
                other
                for affected in found.data["affects"]
                if (other := affected["vendor"]) != vendor
            }
            if others:
                message = Sentence(
                    "{text_file}:1: expected an advisory for {vendor} alone, found {text}",
                    text_file=found.path,
                    vendor=vendor,
                    text=", ".join(sorted(others)),
                )
                raise DatabaseError(message, _ADVISORY_HINT)
            yield found


def _by_name(document: Document) -> str:
    return document.name


def _named(folder: Path, shape: Record, cache: Path | None, hint: Sentence) -> Iterator[Document]:
    """The files of a folder, by name, each of which must be called as it calls itself."""
    for found in read_folder(folder, shape, cache, hint):
        if found.data["id"] != found.name.removesuffix(".yaml"):
            message = Sentence(
                "{text_file}:1: expected the id {id}, found {text}",
                text_file=found.path,
                id=found.path.stem,
                text=repr(found.data["id"]),
            )
            raise DatabaseError(message, hint)
        yield found


def advisories(
    layer: Layer, files: Iterable[Document], only: str | None = None
) -> Iterator[Addition]:
    """What advisories of a layer add to the conditions of each vendor that they affect.

    ``only``: nothing for other vendors.
    """
    for found in sorted(files, key=_by_name):
        said = found.data
        affects = [one for one in said["affects"] if only in (None, one["vendor"])]
        if not affects:
            continue
        sources = LateMapping(partial(_sources, said["references"]))
        uses = [Later(use["ops"], partial(_condition, said, use)) for use in said["uses"]]
        for affected in affects:
            yield Addition(
                vendor=affected["vendor"],
                origin=layer.of(found.path) if layer.origin else "",
                reason=said["reason"],
                digest=found.digest,
                method=said["method"],
                sources=sources,
                where={key: value for key, value in affected.items() if key != "vendor"},
                conditions=Lines(uses),
            )


def sentence(said: Mapping[str, Any]) -> str:
    """What a use is told: what goes wrong, where that is fixed, and what to do."""
    fixed = f", fixed in {said['fixed_in']}" if "fixed_in" in said else ""
    text = f"{' '.join(said['text'].split())} (advisory {said['id']}{fixed})"
    return f"{text}; {said['workaround']}" if "workaround" in said else text


def _condition(said: Mapping[str, Any], use: Mapping[str, Any]) -> dict[str, Any]:
    verdict = Verdict.UNSUPPORTED if said["effect"] in ENDINGS else Verdict.NATIVE
    return {
        "ops": use["ops"],
        "code": said["id"],
        "verdict": verdict.value,
        "confidence": said["confidence"],
        "method": said["method"],
        "text": sentence(said),
        "harmful": verdict is Verdict.NATIVE and said["effect"] not in MILD,
        "at": [f"{number}{_line(one)}" for number, one in enumerate(said["references"])],
        "tests": use.get("tests", []),
    }


def _sources(references: Sequence[Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """By number, as conditions cite them."""
    return {str(number): _source(one) for number, one in enumerate(references)}


_FILE = re.compile(r"blob/([0-9a-f]{40})/(.+)")


def _source(reference: Mapping[str, str]) -> dict[str, str]:
    """Where an address leads, as a table of sources has it: a repository and what is in it."""
    host, _, path = _BEYOND.split(reference["url"].partition("://")[2])[0].partition("/")
    path = path.strip("/")
    repository, name = host, path
    if host in ("github.com", "gitee.com") and path.count("/") > 1:
        owner, project, name = path.split("/", 2)
        repository = f"{owner}/{project}"
    commit = ""
    if file := _FILE.fullmatch(name):
        commit, name = file.groups()
    return {
        "repo": repository,
        "ref": commit or name,
        "commit": commit,
        "path": name,
        "date": reference["date"],
    }


def _line(reference: Mapping[str, str]) -> str:
    """The line that an address of a file names, as a citation has it."""
    line = re.fullmatch(r"L(\d+)", reference["url"].partition("#")[2])
    return f":{line[1]}" if line else ""


_REMEDY_HINT = Sentence("correct the remedy, or restore it from the release")


def remedies(layer: Layer, target: Target, cache: Path | None) -> Iterator[Remedy]:
    """The remedies of a layer for a target, by name.

    Raises:
        DatabaseError: a file is damaged, or is not named as it calls itself.
    """
    for found in _named(layer.folder / REMEDIES, REMEDY_FILE, cache, _REMEDY_HINT):
        said = found.data
        for where in said["for"]:
            if where["vendor"] == target.vendor and holds(where, target):
                yield _remedy(said)
                break


def _remedy(said: Mapping[str, Any]) -> Remedy:
    return Remedy(
        id=said["id"],
        summary=from_data(" ".join(said["summary"].split())),
        write=said["write"],
        codes=frozenset(said.get("codes", ())),
        ops=frozenset(said.get("ops", ())),
        dtypes=frozenset(said.get("dtypes", ())),
        on_device=said["on_device"],
        label=Label(said["label"]),
        gives_up=from_data(" ".join(said.get("gives_up", "").split())),
        confidence=Confidence(said["confidence"]),
        evidence=Citations(said["sources"]).all(said["at"], Method(said["method"])),
    )


_SIZES_HINT = Sentence("correct the file, or restore it from the release")


def size_rules(layer: Layer, target: Target, cache: Path | None) -> Iterator[SizeRule]:
    """What a layer says of a target, file by file; those for certain operators first.

    Raises:
        DatabaseError: a file is damaged, or is not named as it calls itself.
    """
    for found in _named(layer.folder / DYNAMIC, DYNAMIC_FILE, cache, _SIZES_HINT):
        said = found.data
        if any(where["vendor"] == target.vendor and holds(where, target) for where in said["for"]):
            rules = (_rule(one, said) for one in said["says"])
            yield from sorted(rules, key=lambda rule: not rule.ops)


def _rule(one: Mapping[str, Any], said: Mapping[str, Any]) -> SizeRule:
    return SizeRule(
        kinds=frozenset(map(SiteKind, one["sites"])),
        ops=frozenset(one.get("ops", ())),
        how=Taking(one["how"]),
        text=from_data(" ".join(one["text"].split())),
        confidence=Confidence(said["confidence"]),
        evidence=Citations(said["sources"]).all(one["at"], Method(said["method"])),
        varies=one.get("varies", ""),
    )
