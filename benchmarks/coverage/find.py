"""Counts the checks of one vendor's kernels: ``python -m benchmarks.coverage.find VENDOR GIT-DIR``.

Writes ``checks/VENDOR.yaml``. A check whose text stands in the installed PyTorch's library for the
CPU as well refuses what the host refuses, so that no condition is wanted for it.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch
import yaml

from benchmarks.coverage.source import Check, checks

FOLDER = Path(__file__).with_name("checks")
_SOURCE = re.compile(r"\.(cpp|cc|cu|h|hpp|mm|mu)")
_PRINTABLE = re.compile(rb"[\n\t\x20-\x7e]{6,}")
_SHORTEST = 12
"""Letters of a text that is looked for; shorter ones stand anywhere."""
_CUDA = (
    "2.9.1", "pytorch/pytorch", "5811a8d7da873dd699ff6687092c225caffcf1bb",
)  # fmt: skip
_NATIVE = "aten/src/ATen/native"
_HIPIFIED = (
    f"{_NATIVE}/cuda", f"{_NATIVE}/nested/cuda", f"{_NATIVE}/quantized/cuda",
    f"{_NATIVE}/sparse/cuda", f"{_NATIVE}/transformers/cuda",
)  # fmt: skip
"""What is compiled for CUDA, and by way of hipify for ROCm."""
KERNELS: Mapping[str, tuple[str, str, str, tuple[str, ...]]] = {
    "amd": (*_CUDA, (*_HIPIFIED, f"{_NATIVE}/miopen", f"{_NATIVE}/transformers/hip")),
    "ascend": (
        "26.1.0", "Ascend/op-plugin", "09024aa99e234be0456a41f02585f060389d488f",
        ("op_plugin/ops/opapi", "op_plugin/ops/aclops", "op_plugin/ops/atb"),
    ),
    "cambricon": (
        "r2.4_develop", "Cambricon/torch_mlu", "9e95f972d3bfda0a855f9500aec852664ceecb6a",
        ("torch_mlu/csrc/aten/operators",),
    ),
    "google": (
        "r2.10", "pytorch/xla", "699289f1e2cfa7c2c8fd8f02afb554d57492b855",
        ("torch_xla/csrc",),
    ),
    "intel": (
        "2.14.1", "intel/torch-xpu-ops", "a4c530f07a68a526003c6867542b92e89fb1fd29",
        ("src/ATen/native",),
    ),
    "moorethreads": (
        "2.7.1", "MooreThreads/torch_musa", "0bc05bff11712400fd53aa7dd8e68950a4c46647",
        ("torch_musa/csrc/aten/ops",),
    ),
    "nvidia": (*_CUDA, (*_HIPIFIED, f"{_NATIVE}/cudnn", f"{_NATIVE}/quantized/cudnn")),
}  # fmt: skip
"""Vendor -> release in the database, repository, its commit for it, and where kernels stand."""
_PRIVATE = re.compile(r"_?npu_\w+|mlu_\w+|\w*(AllReduce|AllGather|AllToAll)\w*")
"""Functions of operators that no model calls but by the vendor's own name for them."""


def main(arguments: Sequence[str]) -> None:
    """Write what is found for one vendor."""
    vendor, folder = arguments
    release, repository, commit, places = KERNELS[vendor]
    texts = host_texts()
    files: dict[str, dict[str, list[int | str]]] = {}
    for path in _paths(folder, commit, places):
        found = list(checks(_git(folder, "show", f"{commit}:{path}")))
        if found:
            files[path] = _kept(found, texts)
    said = {
        "release": release, "repo": repository, "commit": commit, "places": list(places),
        "torch": str(torch.__version__).partition("+")[0], "files": files,
    }  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    text = yaml.safe_dump(said, sort_keys=False, width=100, default_flow_style=None)
    (FOLDER / f"{vendor}.yaml").write_text(text, encoding="utf-8")


def _kept(found: Sequence[Check], texts: frozenset[str]) -> dict[str, list[int | str]]:
    """The lines of a file's checks: of private operators, those of the host too, the others."""
    kept: dict[str, list[int | str]] = {}
    for check in found:
        private = _PRIVATE.fullmatch(check.function)
        kind = "private" if private else "host" if on_host(check, texts) else "own"
        one = check.first == check.last
        kept.setdefault(kind, []).append(check.first if one else f"{check.first}-{check.last}")
    return kept


def on_host(check: Check, texts: frozenset[str]) -> bool:
    """Whether the longest text of a check is one of the host's."""
    longest = max(check.texts, key=len, default="")
    return len(longest) >= _SHORTEST and longest in texts


def host_texts() -> frozenset[str]:
    """The texts in PyTorch's libraries for the CPU."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    return frozenset(match[0].decode() for match in _PRINTABLE.finditer(library.read_bytes()))


def _paths(folder: str, commit: str, places: Sequence[str]) -> Iterator[str]:
    for path in _git(folder, "ls-tree", "-r", "--name-only", commit, *places).splitlines():
        if _SOURCE.fullmatch(Path(path).suffix):
            yield path


def _git(folder: str, *words: str) -> str:
    command = ["git", "-C", folder, *words]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")


if __name__ == "__main__":
    main(sys.argv[1:])
