"""PyTorch itself: the history of every overload, and what a device inherits without a kernel."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import Importer, source_files
from opcheck.db.importers.shared import operator_list, sparse_kernels
from opcheck.db.schema.tables import EXTENSIONS, HISTORY, OPERATORS_SCHEMA
from opcheck.db.versions import major_minor, version_key

_HISTORY = "op-history.csv"
_VISION_FOLDER = "torchvision/csrc/ops/cpu/"
_VISION_CPU = {
    "box_iou_rotated": "85a1dccc8b7d7bf1893fd10e1be14d017480c064",
    "deform_conv2d": "5b132056b91ea9512face7097c573babe67333ec",
    "nms": "96c85bed8babbc42bd8233d11ad9e9d89a64ae20",
    "ps_roi_align": "8a347e1ba3bf14cbba591cc0922f670a78f727d3",
    "ps_roi_pool": "5b132056b91ea9512face7097c573babe67333ec",
    "roi_align": "0b23e88c9dc0418989180703287099ba449181d2",
    "roi_pool": "32c7f39ecb85e83a67f184e61d85d0ba7abeb7b4",
}
"""torchvision operators with a CPU kernel -> commit of the file that registers it, and with it
the backward operator, where there is one: ``<folder><name>_kernel.cpp``."""
_NO_GRADIENT = frozenset({"box_iou_rotated", "nms"})


class PytorchImporter(Importer):
    """Tables that belong to no vendor; there is one set, and no release of it."""

    name = "pytorch"

    def releases(self, sources: Path) -> tuple[str, ...]:
        """None: the tables span versions."""
        return ()

    def run(self, sources: Path, release: str) -> str:
        """Give the operator table of one torch version, as ``2.13.0``."""
        return "\n".join(_operators(sources / self.name, release)) + "\n"

    def common(self, sources: Path) -> Mapping[str, str]:
        """Give the history, sparse tensors' kernels, and operators by version that was recorded."""
        folder = sources / self.name
        recorded = sorted(folder.glob("inherited-kernels@*-runtime.csv"))
        versions = [path.name.partition("@")[2].partition("-")[0] for path in recorded]
        tables = {f"operators@{major_minor(v)}.yaml": self.run(sources, v) for v in versions}
        history, extensions = _history(folder), _extensions()
        return {
            "history.yaml": "\n".join(history) + "\n",
            "extensions.yaml": "\n".join(extensions) + "\n",
            "sparse.yaml": "\n".join(sparse_kernels.table(sources)) + "\n",
            **tables,
        }


def _history(folder: Path) -> Iterable[str]:
    rows = _rows(folder / _HISTORY)
    spans = {
        f"aten::{row['op']}": (
            major_minor(row["first_version"].removeprefix("<=")),
            major_minor(row["last_version"]),
        )
        for row in rows
    }
    spans |= _generated(folder, set(spans))
    versions = sorted({version for span in spans.values() for version in span}, key=version_key)
    yield "# First and last torch version that has each aten overload; the oldest version looked at"
    yield "# stands for older ones too. Written by `opcheck.db.importers pytorch SOURCES`."
    yield f"schema: {HISTORY}"
    yield f"torch: {yaml_writer.flow([versions[0], versions[-1]])}"
    yield from yaml_writer.section("sources", {"wheels": _source(folder, versions[-1])})
    yield from yaml_writer.section("overloads", spans)
    yield "# Torch versions in which an overload was not the composite yet that it is now: a device"
    yield "# had to have a kernel of its own, as the CPU had (`cpu`)."
    yield from yaml_writer.section("whole", _whole(folder))
    yield from yaml_writer.end()


def _whole(folder: Path) -> dict[str, dict[str, Any]]:
    """Composites of the newest torch -> torch versions that wanted a kernel for each device."""
    versions = operator_list.versions(folder)
    declared = {version: operator_list.functions(folder, version) for version in versions}
    found = {}
    for name, function in sorted(declared[versions[-1]].items()):
        if not function.kind.startswith("Composite"):
            continue
        lists = {version: listed[name] for version, listed in declared.items() if name in listed}
        having = [version for version, was in lists.items() if not was.kind]
        if having:
            cpu = any(lists[version].cpu for version in having)
            found[f"aten::{name}"] = {"torch": [having[0], having[-1]], "cpu": cpu}
    return found


def _generated(folder: Path, known: set[str]) -> dict[str, tuple[str, str]]:
    """Overloads that are registered at run time, yet left out of the history: generated ones."""
    registered = {
        f"aten::{row['op']}"
        for path in folder.glob("inherited-kernels@*-runtime.csv")
        for row in _rows(path)
    }
    declared = {
        version: operator_list.functions(folder, version)
        for version in operator_list.versions(folder)
    }
    spans = {}
    for op in registered - known:
        having = [v for v, listed in declared.items() if op.removeprefix("aten::") in listed]
        if having:
            spans[op] = (having[0], having[-1])
    return spans


def _extensions() -> Iterable[str]:
    sources = {
        name: {
            "repo": "pytorch/vision",
            "ref": "main",
            "commit": commit,
            "path": f"{_VISION_FOLDER}{name}_kernel.cpp",
        }
        for name, commit in _VISION_CPU.items()
    }
    forward = {f"torchvision::{name}": {"cpu": True, "at": name} for name in sources}
    backward = {
        f"torchvision::_{name}_backward": {"cpu": True, "at": name}
        for name in sources
        if name not in _NO_GRADIENT
    }
    yield "# Overloads that extension libraries bring, and whether they have a CPU kernel."
    yield f"schema: {EXTENSIONS}"
    yield from yaml_writer.section("sources", sources)
    yield from yaml_writer.section("overloads", {**forward, **backward})
    yield from yaml_writer.end()


def _operators(folder: Path, version: str) -> Iterable[str]:
    torch = major_minor(version)
    rows = _rows(folder / f"inherited-kernels@{version}-runtime.csv")
    kinds = {f"aten::{row['op']}": _kind(row) for row in rows}
    yield "# What a PrivateUse1 device without kernels inherits: the composite kind (CIA implicit,"
    yield "# CEA explicit, CEANF explicit non-functional, none), and cpu where a CPU can run it."
    yield f"schema: {OPERATORS_SCHEMA}"
    yield f'torch: "{torch}"'
    yield from yaml_writer.section("sources", {"dispatcher": _source(folder, torch)})
    yield from yaml_writer.section("overloads", kinds)
    yield from yaml_writer.end()


def _kind(row: Mapping[str, str]) -> str:
    words = [row["PrivateUse1"] or "none", *(["cpu"] if row["CPU"] else [])]
    return " ".join(words)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _source(folder: Path, torch: str) -> dict[str, Any]:
    """The wheel of one torch version that a table was read from."""
    named = source_files(folder)
    file = next(name for name in sorted(named) if name.startswith(f"native_functions@{torch}."))
    return named[file].as_data()
