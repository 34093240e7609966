"""Kernels that PyTorch's own build registers, and curated facts of their vendors."""

import gzip
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.base import load_yaml, source_files
from opcheck.db.importers.shared.facts import citation
from opcheck.db.versions import nearest, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

_FILE = re.compile(r"native_functions@(\d+\.\d+\.\d+)\.yaml\.gz")
_STRUCTURED = frozenset({"CPU", "CUDA", "MPS", "XPU", "MTIA"})
"""Keys that PyTorch generates structured kernels for."""
_UFUNC = ("CPU", "CUDA")
"""Keys that PyTorch generates the kernels of an ``ufunc_inner_loop`` for."""
_INSIDE = " (inside the wheel)"
_RELEASES = Path(__file__).with_name("in_tree_releases.yaml")


class Kernel(Struct, frozen=True):
    """A kernel that a list names."""

    name: str
    """Of the C++ function."""
    line: int
    """1-based, in the list: where the dispatch key is named."""


class Declared(Struct, frozen=True):
    """One overload as a list declares it."""

    name: str
    """Without the namespace: ``add.Tensor``."""
    line: int
    """1-based, in the list: where the declaration begins."""
    kernels: Mapping[str, Kernel]
    """By dispatch key, of this overload itself."""
    delegate: str = ""
    """The ``.out`` overload whose kernels it shares."""


def releases(folder: Path) -> tuple[str, ...]:
    """The torch releases, ``2.13.0``, that ``folder`` holds the list of, oldest first."""
    found = (_FILE.fullmatch(path.name) for path in folder.glob("native_functions@*.yaml.gz"))
    return tuple(sorted((match[1] for match in found if match), key=version_key))


def list_source(folder: Path, release: str) -> dict[str, str]:
    """Where the list of one torch release comes from, for the table of sources."""
    source = source_files(folder)[f"native_functions@{release}.yaml.gz"].as_data()
    dated = {"date": build["date"]} if (build := builds().get(release)) else {}
    return {**source, "path": source["path"].removesuffix(_INSIDE), **dated}


@cache
def builds() -> Mapping[str, Mapping[str, Any]]:
    """By torch release: when it was built, and what its Linux wheel requires of NVIDIA's."""
    read: Mapping[str, Mapping[str, Any]] = load_yaml(_RELEASES)
    return read


@cache
def declared(folder: Path, release: str) -> Mapping[str, Declared]:
    """Every overload that the list of one torch release declares, by name."""
    path = folder / f"native_functions@{release}.yaml.gz"
    if not path.is_file():
        known = ", ".join(releases(folder)) or "none"
        message = Sentence(
            "{text} has no native_functions of torch {version}", text=folder, version=release
        )
        raise DatabaseError(message, Sentence("known releases: {list}", list=known))
    return read_list(gzip.decompress(path.read_bytes()))


def kernels(folder: Path, release: str, key: str) -> dict[str, Kernel]:
    """Overloads that one torch release registers under a dispatch key, and where it says so."""
    return registered(declared(folder, release), key)


def registered(listed: Mapping[str, Declared], key: str) -> dict[str, Kernel]:
    """Overloads of a list that have a kernel under ``key``, with the line that says so.

    For a structured overload that is a line of the ``.out`` overload that it delegates to.
    """
    found = {}
    for name, overload in listed.items():
        kernel = overload.kernels.get(key)
        if kernel is None and key in _STRUCTURED and overload.delegate in listed:
            kernel = listed[overload.delegate].kernels.get(key)
        if kernel is not None:
            found[name] = kernel
    return found


def on_device(listed: Mapping[str, Declared], key: str) -> dict[str, Kernel]:
    """Overloads of a list with a kernel under ``key``, and those for sparse tensors alone."""
    found = registered(listed, key)
    for sparse in (f"Sparse{key}", f"SparseCsr{key}"):
        for name, kernel in registered(listed, sparse).items():
            if sparse_alone(listed[name]):
                found.setdefault(name, kernel)
    return found


def sparse_alone(overload: Declared) -> bool:
    """Whether no device can run it on dense tensors, so that a call of it has sparse ones."""
    return not overload.delegate and all(key.startswith("Sparse") for key in overload.kernels)


def read_list(text: bytes) -> dict[str, Declared]:
    """Read the text of a ``native_functions.yaml``, or of a list in the same form."""
    import yaml

    try:
        root = yaml.compose(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise DatabaseError(Sentence("not a list of operators: {text}", text=error)) from error
    if not isinstance(root, yaml.SequenceNode):
        raise DatabaseError(Sentence("not a list of operators: no YAML sequence"))
    found = (_declared(dict(_fields(item))) for item in root.value)
    return {overload.name: overload for overload in found}


def _declared(fields: Mapping[str, Any]) -> Declared:
    schema = fields["func"]
    delegate = fields.get("structured_delegate")
    return Declared(
        name=schema.value.partition("(")[0],
        line=schema.start_mark.line + 1,
        kernels=dict(_kernels(fields)),
        delegate=delegate.value if delegate else "",
    )


def _kernels(fields: Mapping[str, Any]) -> Iterable[tuple[str, Kernel]]:
    if loop := fields.get("ufunc_inner_loop"):
        generic = dict(_fields(loop))["Generic"]
        line = generic.start_mark.line + 1
        name = generic.value.partition(" ")[0]
        yield from ((key, Kernel(f"ufunc_{name}_{key}", line)) for key in _UFUNC)
    for keys, kernel in _fields(fields["dispatch"]) if "dispatch" in fields else ():
        line = kernel.start_mark.line + 1
        yield from ((key.strip(), Kernel(kernel.value, line)) for key in keys.split(","))


def _fields(mapping: Any) -> Iterable[tuple[str, Any]]:
    """Key texts and value nodes of a YAML mapping node."""
    return ((key.value, value) for key, value in mapping.value)


Fact = Mapping[str, Any]

TORCH = "torch"
"""Id of a release's own source; of another release's, ``torch-2.9.1``."""


class Place(Struct, frozen=True):
    """Where a fact was read, and what that makes of it for one release."""

    at: tuple[str, ...]
    confidence: str
    method: str


def conditions(
    facts: list[Fact], release: str, known: Collection[str], bound: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    """Conditions of one torch release.

    ``known`` are the overloads of that release, ``bound`` those that are tied to a library.
    """
    for fact in facts:
        place = _place(fact, release)
        names = fact.get("ops", ()) or bound[fact["bound_to"]]
        ops = [op for op in names if op == "*" or op in known]
        if place and ops:
            for tests in fact.get("cases", [fact.get("tests", [])]):
                yield _condition(fact, ops, tests, place)


def torch_source(folder: Path, release: str) -> dict[str, str]:
    """Where the files of one torch release come from, for the table of sources."""
    return {**list_source(folder, release), "path": "torch"}


def _place(fact: Fact, release: str) -> Place | None:
    seen, also = fact.get("seen", {}), tuple(fact.get("at", ()))
    if cited := citation(seen, release, TORCH):
        return Place((cited, *also), "high", "registered")
    if not seen:
        within = _within(fact, release)
        stated = Place(also, fact.get("confidence", "medium"), fact.get("method", "registered"))
        return stated if within else None
    if fact.get("elsewhere") != "inferred":
        return None
    read_in = nearest(release, tuple(known for lines in seen.values() for known in lines))
    cited = citation(seen, read_in, f"{TORCH}-{read_in}")
    return Place((cited, *also), "low", "inferred")


def told(advisories: Iterable[Fact], release: str) -> Iterator[dict[str, Any]]:
    """The advisories that are of a release."""
    for said in advisories:
        if _within(said, release):
            yield {key: value for key, value in said.items() if key not in ("since", "until")}


def _within(fact: Fact, release: str) -> bool:
    since, until = (fact.get(word) for word in ("since", "until"))
    place = version_key(release)
    return (since is None or version_key(since) <= place) and (
        until is None or place <= version_key(until)
    )


def _condition(
    fact: Fact, ops: list[str], tests: list[Mapping[str, Any]], place: Place
) -> dict[str, Any]:
    condition = {
        "ops": ops,
        "code": fact["code"],
        "verdict": fact["verdict"],
        "confidence": place.confidence,
        "method": place.method,
        "text": fact["text"],
        "at": list(place.at),
    }
    condition |= {"chips": fact["chips"]} if "chips" in fact else {}
    return condition | ({"tests": tests} if tests else {})
