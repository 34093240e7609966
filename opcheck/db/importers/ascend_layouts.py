"""Ascend's operator lists, in every layout that was ever released.

op-plugin: one file a torch version with ``impl_ns`` (up to 6.0.rc2), then one file whose
``acl_op`` / ``op_api`` / ``sparse`` say for which torch versions, as ``all_version``, as a comma
list in a string, or as a closed interval ``[v2.1, newest]``. torch_npu: entries are names,
schemas or mappings with ``func``. Derivatives are written as PyTorch writes its own.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers import upstream
from opcheck.db.versions import major_minor
from opcheck.errors import DatabaseError

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
        raise DatabaseError(f"{path} lists no versions", "say which torch version it is for")
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
    names = upstream.arguments(fields["name"])
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
            raise DatabaseError(f"not a list of torch versions: {said!r}")


def _mapping(path: Path) -> dict[str, Any]:
    """Top-level sections as YAML nodes, which know their lines."""
    import yaml

    try:
        root = yaml.compose(path.read_bytes(), yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise DatabaseError(f"cannot read {path}: {error}", "give the folder of sources") from error
    if not isinstance(root, yaml.MappingNode):
        raise DatabaseError(f"{path}:1: expected sections of operators")
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
