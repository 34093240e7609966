"""Which kernels for sparse tensors each torch registers: by overload and dispatch key, since when.

A tensor of another layout has a dispatch key of its own, as ``SparseCUDA``, so that a kernel for
dense tensors is not asked. PyTorch's lists have them for CUDA, MPS and, since 2.14, XPU; those of
torch-xpu-ops for XPU before that.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import SourceFile, source_files
from opcheck.db.importers.shared import in_tree
from opcheck.db.importers.shared.in_tree import Declared, Kernel
from opcheck.db.schema.tables import SPARSE
from opcheck.db.versions import major_minor, version_key

KEYS = tuple(f"{kind}{key}" for key in ("CUDA", "MPS", "XPU") for kind in ("Sparse", "SparseCsr"))
_XPU = re.compile(r"native_functions\.xpu@(\d+\.\d+)\.yaml\.gz")
_XPU_FOLDER = "intel-xpu"


def table(sources: Path) -> Iterable[str]:
    """Give the lines of ``sparse.yaml``."""
    cited: dict[str, SourceFile] = {}
    seen: dict[str, dict[str, str]] = {key: {} for key in KEYS}
    found: dict[str, dict[str, str]] = {}
    for name, torch, source, listed in _lists(sources):
        cited[name] = source
        for key in KEYS:
            kernels = _registered(listed, key)
            if key.endswith("XPU") != name.startswith("xpu-") and not kernels:
                continue  # the other list of that torch says
            seen[key][torch] = name
            for op, kernel in kernels.items():
                since = found.setdefault(f"aten::{op}", {})
                since.setdefault(key, f"{torch} {name}:{kernel.line}")
    yield "# Kernels for sparse tensors: overload -> dispatch key -> the first version that was"
    yield "# looked at and has one, and where. Written by `opcheck.db.importers pytorch SOURCES`."
    yield f"schema: {SPARSE}"
    yield from yaml_writer.section(
        "sources", {name: source.as_data() for name, source in cited.items()}
    )
    yield from yaml_writer.section("torch", seen)
    yield from yaml_writer.section("kernels", {op: found[op] for op in sorted(found)})
    yield from yaml_writer.end()


def _registered(listed: Mapping[str, Declared], key: str) -> Mapping[str, Kernel]:
    """Overloads with a kernel; those that share one of an ``out`` overload run through that."""
    found = in_tree.registered(listed, key)
    for name, overload in listed.items():
        if overload.delegate in found:
            found.setdefault(name, found[overload.delegate])
    return found


def _lists(
    sources: Path,
) -> Iterator[tuple[str, str, SourceFile, Mapping[str, Declared]]]:
    """Name, torch, source and content of every list, oldest first; XPU's own before PyTorch's."""
    folder = sources / "pytorch"
    files = source_files(folder)
    lists = [
        (major_minor(release), f"torch-{major_minor(release)}", folder,
         f"native_functions@{release}.yaml.gz", files)
        for release in in_tree.releases(folder)
    ]  # fmt: skip
    xpu = source_files(sources / _XPU_FOLDER)
    lists += [
        (match[1], f"xpu-{match[1]}", sources / _XPU_FOLDER, match[0], xpu)
        for match in filter(None, map(_XPU.fullmatch, xpu))
    ]
    for torch, name, where, file, known in sorted(lists, key=lambda item: version_key(item[0])):
        text = gzip.decompress((where / file).read_bytes())
        yield name, torch, known[file], in_tree.read_list(text)
