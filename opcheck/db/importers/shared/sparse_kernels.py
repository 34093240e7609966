"""Which kernels for sparse tensors each torch registers: by overload and dispatch key, since when.

A tensor of another layout has a dispatch key of its own, as ``SparseCUDA``, so that a kernel for
dense tensors is not asked. PyTorch's lists have them for CUDA, MPS and, since 2.14, XPU; those of
torch-xpu-ops for XPU before that.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import SourceFile, load_yaml, source_files
from opcheck.db.importers.shared import in_tree
from opcheck.db.schema.tables import SPARSE
from opcheck.db.versions import major_minor, version_key

KEYS = tuple(f"{kind}{key}" for key in ("CUDA", "MPS", "XPU") for kind in ("Sparse", "SparseCsr"))
_XPU = re.compile(r"native_functions\.xpu@(\d+\.\d+)\.yaml\.gz")
_XPU_FOLDER = "intel-xpu"
_XPU_LIST = "yaml/native/native_functions.yaml"
_BY_HAND = Path(__file__).with_name("sparse_xpu.yaml")
Lines = Mapping[str, Mapping[str, int]]
"""Dispatch key -> overload -> the line of a list that names its kernel."""


def table(sources: Path) -> Iterable[str]:
    """Give the lines of ``sparse.yaml``."""
    cited: dict[str, SourceFile] = {}
    seen: dict[str, dict[str, str]] = {key: {} for key in KEYS}
    found: dict[str, dict[str, str]] = {}
    for name, torch, source, lines in _lists(sources):
        cited[name] = source
        for key, kernels in lines.items():
            if key.endswith("XPU") != name.startswith("xpu-") and not kernels:
                continue  # the other list of that torch says
            seen[key][torch] = name
            for op, line in kernels.items():
                since = found.setdefault(f"aten::{op}", {})
                since.setdefault(key, f"{torch} {name}:{line}")
    yield "# Kernels for sparse tensors: overload -> dispatch key -> the first version that was"
    yield "# looked at and has one, and where. Written by `opcheck.db.importers pytorch SOURCES`."
    yield f"schema: {SPARSE}"
    yield from yaml_writer.section(
        "sources", {name: source.as_data() for name, source in cited.items()}
    )
    yield from yaml_writer.section("torch", seen)
    yield from yaml_writer.section("kernels", {op: found[op] for op in sorted(found)})
    yield from yaml_writer.end()


def _registered(text: bytes) -> Lines:
    """Overloads with a kernel; those that share one of an ``out`` overload run through that."""
    listed = in_tree.read_list(text)
    lines: dict[str, dict[str, int]] = {}
    for key in KEYS:
        found = in_tree.registered(listed, key)
        for name, overload in listed.items():
            if overload.delegate in found:
                found.setdefault(name, found[overload.delegate])
        lines[key] = {name: kernel.line for name, kernel in found.items()}
    return lines


def _lists(sources: Path) -> Iterator[tuple[str, str, SourceFile, Lines]]:
    """Name, torch, source and content of every list, oldest first; XPU's own before PyTorch's."""
    folder = sources / "pytorch"
    files = source_files(folder)
    lists = [
        (major_minor(release), f"torch-{major_minor(release)}", files[file],
         partial(_read, folder / file))
        for release in in_tree.releases(folder)
        for file in [f"native_functions@{release}.yaml.gz"]
    ]  # fmt: skip
    xpu = source_files(sources / _XPU_FOLDER)
    lists += [
        (match[1], f"xpu-{match[1]}", xpu[match[0]],
         partial(_read, sources / _XPU_FOLDER / match[0]))
        for match in filter(None, map(_XPU.fullmatch, xpu))
    ]  # fmt: skip
    lists += [
        (torch, f"xpu-{torch}", _branch(torch, said), partial(_said, said))
        for torch, said in load_yaml(_BY_HAND).items()
    ]
    for torch, name, source, read in sorted(lists, key=lambda item: version_key(item[0])):
        yield name, torch, source, read()


def _read(file: Path) -> Lines:
    return _registered(gzip.decompress(file.read_bytes()))


def _branch(torch: str, said: Mapping[str, str]) -> SourceFile:
    return SourceFile(
        "intel/torch-xpu-ops", f"release/{torch}", said["commit"], _XPU_LIST, said["date"]
    )


def _said(said: Mapping[str, Mapping[str, int]]) -> Lines:
    return {key: said[key] for key in KEYS if key in said}
