"""Which kernels for sparse tensors each torch registers: by overload and dispatch key, since when.

A tensor of another layout has a dispatch key of its own, as ``SparseCUDA``, so that a kernel for
dense tensors is not asked. PyTorch's lists have them for CUDA, MPS and, since 2.14, XPU; those of
torch-xpu-ops for XPU before that. Of a device outside of PyTorch its vendor's code says which of
them it has: those that PyTorch shares between CPU and CUDA, or its own.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import SourceFile, load_yaml, source_files
from opcheck.db.importers.shared import in_tree
from opcheck.db.importers.shared.in_tree import Declared, Kernel
from opcheck.db.schema.tables import SPARSE
from opcheck.db.versions import major_minor, version_key

KINDS = ("Sparse", "SparseCsr")
"""What the dispatch keys of sparse layouts begin with."""
SHARED = "Shared"
"""In the place of a device: what CPU and CUDA have under one name, written for any device."""
KEYS = (
    *(f"{kind}{key}" for key in ("CUDA", "MPS", "XPU", SHARED) for kind in KINDS),
    "SparseCPU",
)
_XPU = re.compile(r"native_functions\.xpu@(\d+\.\d+)\.yaml\.gz")
_XPU_FOLDER = "intel-xpu"
_XPU_LIST = "yaml/native/native_functions.yaml"
_BY_HAND = Path(__file__).with_name("sparse_xpu.yaml")
_TARGETS = Path(__file__).with_name("sparse_targets.yaml")
_OF_TARGETS = """\
What a release registers for sparse tensors beside its list: kernels that are shared. host: a
fallback takes the rest to SparseCPU. Else nothing does, and such a call raises."""
_INSIDE = """\
What a shared kernel asks for with its sparse tensors, of what is not shared itself; both: where it
has two of them. unclear: nobody has said what. before: in an older torch alone."""
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
    for op, since in found.items():
        name = op.removeprefix("aten::")
        for key in [key for key in since if key.endswith(SHARED) and name not in lines[key]]:
            del since[key]  # a composite by now, of another that is shared
    found = {op: since for op, since in found.items() if since}
    said = load_yaml(_TARGETS)
    yield "# Kernels for sparse tensors: overload -> dispatch key -> the first version that was"
    yield "# looked at and has one, and where. Shared: CPU and CUDA have the same one."
    yield "# Written by `opcheck.db.importers pytorch SOURCES`."
    yield f"schema: {SPARSE}"
    lists = {name: source.as_data() for name, source in cited.items()}
    yield from yaml_writer.section("sources", lists | said["sources"])
    yield from yaml_writer.section("torch", seen)
    yield from yaml_writer.section("kernels", {op: found[op] for op in sorted(found)})
    yield from yaml_writer.listing("targets", said["targets"], _OF_TARGETS)
    yield from yaml_writer.section("inside", _inside(said["inside"]), _INSIDE)
    yield from yaml_writer.end()


def _inside(said: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What is asked inside of each overload, by the dispatch key of its kernel."""
    found: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        for name, asked in said[kind].items():
            keys = [key for key in ("asks", "both") if key in asked]
            names = {key: [f"aten::{op}" for op in asked[key]] for key in keys}
            found.setdefault(f"aten::{name}", {})[f"{kind}{SHARED}"] = {**asked, **names}
    return {op: found[op] for op in sorted(found)}


def shared(listed: Mapping[str, Declared], kind: str) -> dict[str, Kernel]:
    """Overloads of a list whose kernel for CPU and CUDA is the same function."""
    cpu, cuda = (in_tree.registered(listed, f"{kind}{key}") for key in ("CPU", "CUDA"))
    return {
        name: kernel
        for name, kernel in cpu.items()
        if name in cuda and kernel.name == cuda[name].name
    }


def _registered(text: bytes) -> Lines:
    """Overloads with a kernel; those that share one of an ``out`` overload run through that."""
    listed = in_tree.read_list(text)
    lines: dict[str, dict[str, int]] = {}
    for key in KEYS:
        kind = key.removesuffix(SHARED)
        found = in_tree.registered(listed, key) if kind == key else shared(listed, kind)
        for name, overload in listed.items() if kind == key else ():
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
