"""Moore Threads: which overloads a release of torch_musa registers, by list, code and patches."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared import operator_list
from opcheck.db.versions import major_minor, nearest, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

DENSE = "PrivateUse1"
AUTOGRAD = "AutogradPrivateUse1"
PORTED = "Legacy"
"""What the vendor calls an entry without a dispatch key: PyTorch's CUDA kernel, ported."""
FIRST = "1.0.0"
"""The one release here without a list: what it registers stands in its code alone."""
_ATEN = "aten::"
_FILE = re.compile(r"musa_functions@v(.+)\.yaml")
_ENTRY = re.compile(r"\s*- func:\s*(\S+)")
_TORCH = re.compile(r"torch v(\d+\.\d+\.\d+)")


class Kernel(Struct, frozen=True):
    """One registration."""

    at: str
    """Source id and line: ``list:61``."""
    impl: tuple[str, ...]
    """The kernel's function, or what the vendor calls a ported one."""
    keys: tuple[str, ...]
    method: str = ""
    """How it is known, if not by the release's own files."""

    def as_data(self) -> dict[str, Any]:
        """The entry of the file."""
        data: dict[str, Any] = {"at": self.at}
        data |= {"impl": self.impl} if self.impl else {}
        data |= {"keys": self.keys} if self.keys != (DENSE,) else {}
        return data | ({"method": self.method} if self.method else {})


def releases(folder: Path) -> tuple[str, ...]:
    """Releases that the folder tells the operators of, oldest first."""
    found = (_FILE.fullmatch(path.name) for path in folder.glob("musa_functions@*.yaml"))
    listed = {match[1] for match in found if match}
    surveyed = {FIRST} & set(surveys(folder))
    return tuple(sorted(listed | surveyed, key=version_key))


def list_name(release: str) -> str:
    """Local name of a release's list."""
    return f"musa_functions@v{release}.yaml"


@cache
def torch_of(folder: Path) -> Mapping[str, str]:
    """Release -> the torch that it is built against: tags are not torch versions."""
    facts = load_yaml(folder / "facts-moorethreads.yaml")["facts"]
    said = next(fact for fact in facts if fact["id"] == "versions")["value"]
    return {
        release.removeprefix("v"): match[1]
        for release, text in said.items()
        if (match := _TORCH.search(text))
    }


def registrations(sources: Path, release: str) -> dict[str, Kernel]:
    """Overload -> kernel; the list's own line where list and code both register it."""
    folder = sources / "moorethreads"
    found = {**_listed(sources, release)} if release != FIRST else {}
    for op, kernel in _in_code(folder, release):
        before = found.get(op)
        if before is None:
            found[op] = kernel
        else:
            keys = dict.fromkeys((*before.keys, *kernel.keys))
            found[op] = replace(before, keys=tuple(keys))
    return dict(sorted(found.items()))


def unknown_names(sources: Path, release: str) -> list[str]:
    """Names registered under aten that neither PyTorch's torch nor the vendor's own has."""
    known = {*_known(sources, release), *vendor_schemas(sources / "moorethreads", release)}
    found = registrations(sources, release)
    return sorted(op for op in found if op.startswith(_ATEN) and op[len(_ATEN) :] not in known)


def vendor_schemas(folder: Path, release: str) -> dict[str, str]:
    """Operators that the vendor's own PyTorch has and no other, with their schemas."""
    path = folder / f"added_schemas@v{release}.yaml"
    added = load_yaml(path)["added"] if path.exists() else ()
    return {schema.partition("(")[0]: schema for schema in added}


def surveys(folder: Path) -> tuple[str, ...]:
    """Releases whose code was searched for registrations."""
    refs = {row["ref"].removeprefix("v") for row in _rows_of_code(folder)}
    return tuple(sorted(refs, key=version_key))


@cache
def _rows_of_code(folder: Path) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = load_yaml(folder / "cpp_registrations.yaml")["rows"]
    return rows


def survey_of(folder: Path, release: str) -> str:
    """The release whose code tells what this one registers beyond its list."""
    others = tuple(known for known in surveys(folder) if known != FIRST)
    return release if release in surveys(folder) else nearest(release, others)


@cache
def _listed(sources: Path, release: str) -> Mapping[str, Kernel]:
    return dict(_of_list(sources, release))


def _of_list(sources: Path, release: str) -> Iterator[tuple[str, Kernel]]:
    path = sources / "moorethreads" / list_name(release)
    entries = load_yaml(path)
    lines = _lines(path)
    if [entry["func"] for entry in entries] != [name for name, _ in lines]:
        raise DatabaseError(
            Sentence("{text} has entries whose line is not told", text=path),
            Sentence("teach the importer them"),
        )
    known = _known(sources, release)
    kernels = {entry["func"]: _kernels(entry) for entry in entries}
    for name, line in lines:
        own = kernels[name]
        if DENSE not in own and known.get(name) and known[name].delegate in kernels:
            own = {DENSE: kernels[known[name].delegate].get(DENSE, PORTED), **own}
        if not own:
            own = {DENSE: PORTED}
        impl = (own[DENSE],) if DENSE in own else ()
        yield f"aten::{name}", Kernel(f"list:{line}", impl, tuple(own))


def _known(sources: Path, release: str) -> Mapping[str, operator_list.Function]:
    torch = major_minor(torch_of(sources / "moorethreads")[release])
    return operator_list.functions(sources / "pytorch", torch)


def _kernels(entry: Mapping[str, Any]) -> dict[str, str]:
    """Dispatch key -> kernel; keys may be joined by commas."""
    return {
        key.strip(): kernel
        for keys, kernel in entry.get("dispatch", {}).items()
        for key in keys.split(",")
    }


def _lines(path: Path) -> list[tuple[str, int]]:
    text = path.read_text(encoding="utf-8").splitlines()
    found = ((_ENTRY.match(line), number) for number, line in enumerate(text, 1))
    return [(match[1], number) for match, number in found if match]


def _in_code(folder: Path, release: str) -> Iterator[tuple[str, Kernel]]:
    """What C++ registers: the whole of the first release, torchvision's kernels, quantized ones."""
    surveyed = survey_of(folder, release)
    method = "" if surveyed == release else "inferred"
    found: dict[str, Kernel] = {}
    for row in _rows_of_code(folder):
        op, key = row["op"], row["key"]
        if row["ref"] != f"v{surveyed}" or row["kind"] != "impl" or not key.endswith(DENSE):
            continue
        at = f"cpp:{row['file']}:{row['line']}"
        before = found.get(op, Kernel(at, (), (), method))
        found[op] = replace(before, keys=(*before.keys, key))
    yield from found.items()


_DATA = Path(__file__).with_name("moorethreads_code.yaml")


@cache
def code() -> Mapping[str, Any]:
    """The facts of ``moorethreads_code.yaml``."""
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data


def patched(schemas: Mapping[str, str]) -> Iterator[tuple[str, Kernel]]:
    """Composites that a release with these schemas runs as operators of its own."""
    for fact in _facts(schemas):
        impl = tuple(name for name in fact["runs_as"] if name in schemas)
        yield fact["op"], Kernel(f"code:{fact['file']}", impl, (DENSE, AUTOGRAD))


def gradients(schemas: Mapping[str, str]) -> dict[str, Any]:
    """Lines of the section ``gradients``."""
    return {fact["op"]: _gradient(fact, schemas) for fact in _facts(schemas)}


def _facts(schemas: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    for fact in code()["patched"]:
        if any(name in schemas for name in fact["runs_as"]):
            yield fact


def _gradient(fact: Mapping[str, Any], schemas: Mapping[str, str]) -> dict[str, Any]:
    """The gradient of the operator that runs whatever the arguments are."""
    kernel = next(name for name in fact["backward"] if name in schemas)
    returned = schemas[kernel].partition("->")[2]
    arguments = [name for name in fact["arguments"] if f"grad_{name}" in returned]
    return {
        "at": [f"code:{code()['derivatives']}"],
        "formulas": {", ".join(arguments): [f"aten::{kernel}"]},
        "method": "inferred",
    }
