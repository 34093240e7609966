"""Cambricon: which overloads a release of torch_mlu registers, and tables from its code."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.db.importers.base import load_yaml, source_files
from opcheck.db.importers.shared import operator_list
from opcheck.db.versions import major_minor, nearest, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

DENSE = "PrivateUse1"
AUTOGRAD = "AutogradPrivateUse1"
SPARSE = "SparsePrivateUse1"
NAMESPACES = {"aten": "aten", "vision": "torchvision", "audio": "torchaudio", "custom": "torch_mlu"}
"""Sections of the list -> what their operators are registered under."""
ITERATOR = "TensorIteratorBase"
"""What a structured kernel inherits from that CNNL's table of dtypes speaks of."""
_FILE = re.compile(r"mlu_functions@(.+)\.yaml")
_HEAD = re.compile(r"(\w+):\s*")
_ENTRY = re.compile(r"\s*- func:")
_IN_CODE = ("PrivateUse1", AUTOGRAD, SPARSE, "BackendSelect")
"""Keys whose registrations in C++ stand beside those of the list."""


class Release(Struct, frozen=True):
    """What a branch is built against."""

    name: str
    version: str
    """Of torch_mlu and of torch: ``1.25.0-torch2.4.1``."""
    packages: Mapping[str, str]
    """What a machine needs beside it, and torch_mlu itself, with their versions."""

    @property
    def torch(self) -> str:
        """Of PyTorch: ``2.4.1``."""
        return self.version.partition("-torch")[2]


class Listed(Struct, frozen=True):
    """One entry of a list."""

    op: str
    """With its namespace: ``aten::add.Tensor``."""
    line: int
    """1-based."""
    fields: Mapping[str, Any]
    """As the list writes them, ``func`` left out."""


class Kernel(Struct, frozen=True):
    """One registration."""

    at: str
    """Source id and place: ``functions:61``, ``code:torch_mlu/csrc/….cpp:57``."""
    library: tuple[str, ...]
    """What the kernel is written with: ``cnnl``, ``bang``, ``mluop``."""
    keys: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """The entry of the file."""
        data: dict[str, Any] = {"at": self.at}
        data |= {"impl": self.library} if self.library else {}
        return data | ({"keys": self.keys} if self.keys != (DENSE,) else {})


def releases(folder: Path) -> tuple[str, ...]:
    """Branches that the folder holds the list of, oldest first."""
    found = (_FILE.fullmatch(path.name) for path in folder.glob("mlu_functions@*.yaml"))
    return tuple(sorted((match[1] for match in found if match), key=version_key))


def read_release(folder: Path, name: str) -> Release:
    """Read what a branch is built against."""
    path = folder / property_file(name)
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatabaseError(
            Sentence("cannot read {text_file}: {text}", text_file=path, text=error),
            Sentence("give the folder of sources"),
        ) from error
    needs = {"driver": said["driver_requires"], **said["build_requires"]}
    kept = ("driver", "cntoolkit", "cnnl", "mluops", "cncl")
    version = said["version"]
    own = {"torch_mlu": version.partition("-torch")[0]}
    return Release(name, version, own | {package: needs[package][1] for package in kept})


def property_file(release: str) -> str:
    """Local name of what a branch is built against."""
    return f"build.property@{release}.json"


def list_file(release: str) -> str:
    """Local name of a branch's list."""
    return f"mlu_functions@{release}.yaml"


def read_list(path: Path) -> tuple[Listed, ...]:
    """Every entry of a list, in its order."""
    sections = load_yaml(path)
    return tuple(
        Listed(f"{NAMESPACES[section]}::{_name(item)}", line, item)
        for section, lines in _lines(path).items()
        for item, line in zip(sections[section], lines, strict=True)
    )


def _name(item: Mapping[str, Any]) -> str:
    return str(item["func"]).partition("(")[0].strip()


def _lines(path: Path) -> dict[str, list[int]]:
    """Lines of the entries of each section."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if head := _HEAD.fullmatch(line):
            entries = found[head[1]] = []
        elif _ENTRY.match(line):
            entries.append(number)
    return found


def in_code(folder: Path, release: str) -> list[dict[str, Any]]:
    """Registrations that a release writes in C++, outside its list."""
    rows = load_yaml(folder / "cpp_registrations.yaml")["rows"]
    return [row for row in rows if row["ref"] == release]


def registrations(
    listed: Iterable[Listed], in_code: Iterable[Mapping[str, Any]], torch: str, pytorch: Path
) -> dict[str, Kernel]:
    """Overload -> kernel; names of aten that this torch lacks are left out, as codegen does."""
    known = operator_list.functions(pytorch, major_minor(torch))
    found: dict[str, Kernel] = {}
    for entry in listed:
        if _is_known(entry.op, known):
            found.setdefault(entry.op, _kernel(entry))
    for op, at, keys in _by_operator(in_code):
        own = found.get(op, Kernel(at, (), ()))
        found[op] = replace(own, keys=tuple(dict.fromkeys((*own.keys, *keys))))
    return found


def not_aten(listed: Iterable[Listed], torch: str, pytorch: Path) -> list[str]:
    """Names listed under aten that are no overload of this torch."""
    known = operator_list.functions(pytorch, major_minor(torch))
    return sorted({e.op.removeprefix("aten::") for e in listed if not _is_known(e.op, known)})


def _is_known(op: str, known: Mapping[str, operator_list.Function]) -> bool:
    namespace, _, name = op.partition("::")
    return namespace != "aten" or name in known


def _kernel(entry: Listed) -> Kernel:
    keys = [key.strip() for key in entry.fields.get("dispatch", DENSE).split(",")]
    keys += [AUTOGRAD] if entry.fields.get("custom_autograd") else []
    library = entry.fields.get("derived_type", "cnnl")
    return Kernel(f"functions:{entry.line}", (library,), tuple(keys))


def _by_operator(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """Operator, the first place that registers it, and its keys."""
    found: dict[str, tuple[str, list[str]]] = {}
    for row in rows:
        if row["kind"] == "impl" and row["key"] in _IN_CODE:
            at = f"code:{row['file']}:{row['line']}"
            found.setdefault(row["op"], (at, []))[1].append(row["key"])
    for op, (at, keys) in found.items():
        yield op, at, sorted(keys, key=_IN_CODE.index)


CODE = "torch_mlu/csrc"
_LOWER = {"high": "medium", "medium": "low"}
Row = Mapping[str, Any]


class Table(Struct, frozen=True):
    """Rows of one kind that bear on a release."""

    source: str
    """Id of the source that they cite."""
    rows: Sequence[Row]
    own: bool
    """Taken from the release itself, not from the one nearest to it."""

    def evidence(self, confidence: str, method: str) -> dict[str, str]:
        """How sure a condition is that a row states, and how it is known."""
        if self.own:
            return {"confidence": confidence, "method": method}
        return {"confidence": _LOWER[confidence], "method": "inferred"}


class Tables(Struct, frozen=True, dict=True):
    """Every table of one release; where it has none of a kind, that of the release nearest to it.

    Which is nearest goes by the version of torch_mlu, then by the torch that it is built against.
    """

    folder: Path
    release: str

    @cached_property
    def dtypes(self) -> Table:
        """Dtypes of kernels that are reached through PyTorch's TensorIterator, by CNNL's name."""
        return self._code("cnnl_op_params", "params")

    @cached_property
    def dispatched(self) -> Table:
        """Dtypes of kernels that use a dispatch macro, by its label."""
        return self._code("kernel_dtype_dispatch", "rows")

    @cached_property
    def checked(self) -> Table:
        """Statements that raise an error."""
        return self._code("runtime_checks", "rows")

    @cached_property
    def narrowed(self) -> Table:
        """Files whose kernels cast int64 to int32."""
        return self._code("int64_downcast_sites", "rows")

    @cached_property
    def apis(self) -> Table:
        """Public APIs that have limitations, with the line of each."""
        chosen = self._nearest("torch_api")
        path = self.folder / f"torch_api@{chosen}.yaml"
        lines = {
            line.partition("api:")[2].strip(): number
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if line.lstrip().startswith("- api:")
        }
        said = (item for section in load_yaml(path) for apis in section.values() for item in apis)
        rows = [
            {"api": item["api"], "says": item["limitations"], "line": lines[item["api"]]}
            for item in said
            if item.get("limitations")
        ]
        return Table("apis", rows, chosen == self.release)

    def sources(self) -> dict[str, dict[str, str]]:
        """The file's table of sources."""
        files = source_files(self.folder)
        found = {"functions": files[list_file(self.release)].as_data()}
        used = (self.dtypes, self.dispatched, self.checked, self.narrowed)
        for name in sorted({"code", *(table.source for table in used)}):
            ref = name.partition("-")[2]
            found[name] = {**files[list_file(ref or self.release)].as_data(), "path": CODE}
            found[name] |= {"note": self._note("tables")} if ref else {}
        apis = self._nearest("torch_api")
        found["apis"] = files[f"torch_api@{apis}.yaml"].as_data()
        found["apis"] |= {"note": self._note("list")} if apis != self.release else {}
        return found

    def _note(self, what: str) -> str:
        return f"of the release nearest to {self.release}, whose own {what} were not at hand"

    def _code(self, kind: str, key: str) -> Table:
        chosen = self._nearest(kind)
        rows = load_yaml(self.folder / f"{kind}@{chosen}.yaml")[key]
        own = chosen == self.release
        return Table("code" if own else f"code-{chosen}", rows, own)

    def _nearest(self, kind: str) -> str:
        """The release whose table of a kind bears on this one."""
        prefix = f"{kind}@"
        names = sorted(p.stem.removeprefix(prefix) for p in self.folder.glob(f"{prefix}*.yaml"))
        known = [name for name in names if name in releases(self.folder)]
        if not known:
            raise DatabaseError(
                Sentence("{text} has no {name}", text=self.folder, name=kind),
                Sentence("give the folder of sources"),
            )
        versions = {read_release(self.folder, name).version: name for name in known}
        wanted = read_release(self.folder, self.release).version
        return versions[nearest(wanted, tuple(sorted(versions, key=version_key)))]
