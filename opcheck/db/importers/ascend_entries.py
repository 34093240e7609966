"""Ascend: which overloads one release registers, for each torch version, from both lists."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers import upstream
from opcheck.db.importers.ascend_layouts import Derivative, Listed, OperatorList
from opcheck.db.importers.upstream import IMPLICIT, Function
from opcheck.db.versions import version_key

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
    known = upstream.functions(folder, torch)
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
    return sorted(names - set(upstream.functions(folder, torch)))


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
