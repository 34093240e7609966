"""Ascend's operator lists in every layout, and which overloads a release registers by them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.shared import operator_list
from opcheck.db.importers.shared.operator_list import IMPLICIT, Function
from opcheck.db.versions import major_minor, version_key
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence

PATHS = ("acl_op", "op_api", "sparse")
"""The vendor's words for where a kernel comes from, in the order that entries show them."""


class Listed(Struct, frozen=True):
    """One operator entry of a vendor's list."""

    name: str
    """Without the namespace: ``add.Tensor``."""
    line: int
    """1-based line of the entry."""
    kernels: Mapping[str, tuple[str, ...]]
    """torch version -> kernel paths; an entry with none for a version does not count for it."""


class OperatorList(Struct, frozen=True):
    """One vendor file, read."""

    torch: tuple[str, ...]
    """torch versions that the file speaks of; empty where it speaks of none."""
    sections: Mapping[str, tuple[Listed, ...]]

    def count(self, section: str, torch: str) -> tuple[int, int, int, int]:
        """Entries active for one torch version: total, acl_op only, op_api only, both."""
        active = [e.kernels.get(torch, ()) for e in self.sections.get(section, ())]
        dense = [tuple(path for path in paths if path != "sparse") for paths in active if paths]
        return (
            len(dense),
            dense.count(("acl_op",)),
            dense.count(("op_api",)),
            dense.count(("acl_op", "op_api")),
        )


class Derivative(Struct, frozen=True):
    """One operator that the vendor gives a derivative of its own."""

    name: str
    """Without the namespace: ``gather``, ``repeat_interleave.self_int``, ``npu_linear``."""
    line: int
    """1-based line of the entry."""
    torch: tuple[str, ...]
    formulas: Mapping[tuple[str, ...], str]
    """Arguments -> the C++ that computes their gradients; those without one are left out."""


def read_plugin_list(path: Path, torch: str = "") -> OperatorList:
    """Read ``op_plugin_functions.yaml``; ``torch`` for a file of the one-per-version layout."""
    document = _mapping(path)
    versions = tuple(_versions(document.pop("all_version", None))) or ((torch,) if torch else ())
    if not versions:
        raise DatabaseError(
            Sentence("{text} lists no versions", text=path),
            Sentence("say which torch version it is for"),
        )
    sections = {
        name: tuple(
            Listed(item["func"], item["line"], _kernels(item, versions)) for item in _items(node)
        )
        for name, node in document.items()
    }
    return OperatorList(versions, sections)


def read_native_list(path: Path) -> OperatorList:
    """Read ``npu_native_functions.yaml``: torch_npu's own operators, for every torch version."""
    sections = {
        name: tuple(
            Listed(item["func"], item["line"], {"": ("torch_npu",)}) for item in _items(node)
        )
        for name, node in _mapping(path).items()
        if name not in {"backend", "cpp_namespace"}
    }
    return OperatorList((), sections)


def read_derivatives(path: Path) -> tuple[Derivative, ...]:
    """Read ``derivatives.yaml``: every operator that the vendor gives a derivative."""
    document = _mapping(path)
    versions = tuple(_versions(document.get("all_version")))
    items = ((_fields(node), node.start_mark.line + 1) for node in document["backward"].value)
    return tuple(derivative(fields, versions, line) for fields, line in items)


def derivative(fields: Mapping[str, Any], versions: tuple[str, ...], line: int) -> Derivative:
    """Make one entry of a list of derivatives; ``versions`` are those that the list speaks of."""
    names = operator_list.arguments(fields["name"])
    keys = {key: tuple(part.strip() for part in key.split(",")) for key in fields}
    formulas = {
        keys[key]: text
        for key, text in fields.items()
        if key != "name" and set(keys[key]) <= set(names) and text != "non_differentiable"
    }
    torch = active(fields.get("version", "all_version"), versions)
    return Derivative(fields["name"].partition("(")[0], line, torch, formulas)


def active(said: Any, versions: tuple[str, ...]) -> tuple[str, ...]:
    """Give the torch versions that one ``acl_op:``, ``op_api:`` or ``version:`` stands for."""
    match said:
        case None:
            return ()
        case "all_version":
            return versions
        case str():
            return tuple(major_minor(part.strip()) for part in said.split(","))
        case [first, last]:
            start = versions.index(major_minor(first))
            stop = len(versions) if last == "newest" else versions.index(major_minor(last)) + 1
            return versions[start:stop]
        case _:
            raise DatabaseError(Sentence("not a list of torch versions: {text}", text=repr(said)))


def _mapping(path: Path) -> dict[str, Any]:
    """Top-level sections as YAML nodes, which know their lines."""
    import yaml

    try:
        root = yaml.compose(path.read_bytes(), yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise DatabaseError(
            Sentence("cannot read {text_file}: {text}", text_file=path, text=error),
            Sentence("give the folder of sources"),
        ) from error
    if not isinstance(root, yaml.MappingNode):
        raise DatabaseError(
            Sentence("{text_file}:1: expected sections of operators", text_file=path)
        )
    return {key.value: node for key, node in root.value}


def _items(node: Any) -> Iterator[dict[str, Any]]:
    """Entries of one section: ``func`` without its schema, ``line``, and what else is said."""
    for item in node.value if isinstance(node.value, list) else ():
        fields = {"func": item.value} if isinstance(item.value, str) else _fields(item)
        name = fields["func"].partition("(")[0].strip()
        yield {**fields, "func": name, "line": item.start_mark.line + 1}


def _fields(node: Any) -> dict[str, Any]:
    return {key.value: _plain(value) for key, value in node.value}


def _plain(node: Any) -> Any:
    """A scalar as text, a flow list as a list of text; nested mappings are of no use here."""
    if isinstance(node.value, str):
        return node.value
    return [item.value for item in node.value if not isinstance(item, tuple)]


def _versions(node: Any) -> Iterator[str]:
    for item in node.value if node is not None else ():
        yield major_minor(item.value)


def _kernels(item: Mapping[str, Any], versions: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if "impl_ns" in item:
        paths = {part.strip() for part in item["impl_ns"].split(",")}
        served = {path: set(versions) if path in paths else set() for path in PATHS}
    else:
        served = {path: set(active(item.get(path), versions)) for path in PATHS}
    kernels = {v: tuple(path for path in PATHS if v in served[path]) for v in versions}
    return {version: paths for version, paths in kernels.items() if paths}


DENSE = "PrivateUse1"
AUTOGRAD = "AutogradPrivateUse1"
SPARSE = "SparsePrivateUse1"
_BELOW_AUTOGRAD_ONLY = frozenset({"isclose", "isfinite"})
"""Composites that the vendor's generator exempts from registration at the autograd key."""
_AUTOGRAD_SINCE = "2.3"
"""First torch version whose torch_npu registers composite overrides at the autograd key too; on
2.1 and 2.2 only those with a derivative of the vendor's own are there."""


class Lists(Struct, frozen=True):
    """The operator lists of one release."""

    plugin: OperatorList
    native: OperatorList
    derived: tuple[Derivative, ...]
    """Operators with a derivative of the vendor's own."""
    files: Mapping[str, str]
    """``plugin`` and ``native`` -> the vendor file's local name."""


class Kernel(Struct, frozen=True):
    """One registration, as one line of a list gives it."""

    at: str
    """Source id and line: ``plugin:61``."""
    paths: tuple[str, ...]
    keys: tuple[str, ...]


def registrations(lists: Lists, torch: str, folder: Path) -> dict[str, Kernel]:
    """Overload -> kernel for one torch version; names that this torch lacks are left out."""
    known = operator_list.functions(folder, torch)
    autograd = _at_autograd(lists, torch, known)
    found = {
        f"aten::{entry.name}": _kernel(source, entry, paths, autograd)
        for source, entry, paths in _official(lists, torch)
        if entry.name in known
    }
    for source, entry, paths in _custom(lists, torch):
        found.setdefault(f"npu::{entry.name}", _kernel(source, entry, paths, frozenset()))
    for name, function in known.items():
        if name.startswith("_foreach_") and function.cpu and f"aten::{name}" not in found:
            found[f"aten::{name}"] = Kernel("foreach", ("composite",), (DENSE,))
    return found


def filtered(lists: Lists, torch: str, folder: Path) -> list[str]:
    """Official names that are no overload of this torch, so are never registered under aten."""
    names = {entry.name for _, entry, _ in _official(lists, torch)}
    return sorted(names - set(operator_list.functions(folder, torch)))


def _at_autograd(lists: Lists, torch: str, known: Mapping[str, Function]) -> frozenset[str]:
    """Names whose kernels are registered at the autograd key as well.

    Of the composites, those with a derivative of the vendor's own, in any variant; and those that
    PyTorch has no kernel of its own for at that key, unless the vendor's generator exempts them.
    """
    listed = {e.name for e in lists.plugin.sections.get("autograd", ()) if torch in e.kernels}
    composites = {name: f for name, f in known.items() if f.kind == IMPLICIT}
    derived = {
        known[d.name].signature for d in lists.derived if torch in d.torch and d.name in known
    }
    found = listed | {name for name, f in composites.items() if f.signature in derived}
    if version_key(torch) >= version_key(_AUTOGRAD_SINCE):
        found |= {name for name, f in composites.items() if not f.autograd} - _BELOW_AUTOGRAD_ONLY
    return frozenset(found)


def _official(lists: Lists, torch: str) -> Iterable[tuple[str, Listed, tuple[str, ...]]]:
    for entry in lists.native.sections.get("supported", ()):
        yield "native", entry, entry.kernels[""]
    for entry in lists.plugin.sections.get("official", ()):
        if torch in entry.kernels:
            yield "plugin", entry, entry.kernels[torch]


def _custom(lists: Lists, torch: str) -> Iterable[tuple[str, Listed, tuple[str, ...]]]:
    for entry in lists.plugin.sections.get("custom", ()):
        if torch in entry.kernels:
            yield "plugin", entry, entry.kernels[torch]
    for entry in lists.native.sections.get("custom", ()):
        yield "native", entry, entry.kernels[""]


def _kernel(source: str, entry: Listed, paths: tuple[str, ...], autograd: frozenset[str]) -> Kernel:
    dense = tuple(path for path in paths if path != "sparse")
    keys = [DENSE] if dense else []
    keys += [AUTOGRAD] if dense and entry.name in autograd else []
    keys += [SPARSE] if "sparse" in paths else []
    return Kernel(f"{source}:{entry.line}", dense, tuple(keys))


def merged(by_torch: Mapping[str, Mapping[str, Kernel]]) -> dict[str, Any]:
    """Overload -> entry of the file, or a list of them where torch versions differ."""
    versions = tuple(by_torch)
    names = sorted({name for kernels in by_torch.values() for name in kernels})
    return {name: _entry(name, by_torch, versions) for name in names}


def _entry(
    name: str, by_torch: Mapping[str, Mapping[str, Kernel]], versions: tuple[str, ...]
) -> Any:
    groups: dict[Kernel, list[str]] = {}
    for version in versions:
        if kernel := by_torch[version].get(name):
            groups.setdefault(kernel, []).append(version)
    variants = [_variant(kernel, served, versions) for kernel, served in groups.items()]
    return variants[0] if len(variants) == 1 else variants


def _variant(kernel: Kernel, served: list[str], versions: tuple[str, ...]) -> dict[str, Any]:
    variant: dict[str, Any] = {"at": kernel.at, "impl": kernel.paths}
    if kernel.keys != (DENSE,):
        variant["keys"] = kernel.keys
    if tuple(served) != versions:
        variant["torch"] = spans(served, versions)
    return variant


def spans(chosen: Sequence[str], versions: Sequence[str]) -> str:
    """Versions as closed spans of the file's list: ``2.1..2.4, 2.7``."""
    runs: list[list[str]] = [[]]
    for version in versions:
        if version in chosen:
            runs[-1].append(version)
        else:
            runs.append([])
    return ", ".join(r[0] if len(r) == 1 else f"{r[0]}..{r[-1]}" for r in runs if r)
