"""What ExecuTorch's kernels and edge dialect take, read from a checkout of its sources.

``python -m opcheck.db.importers.executorch.kernels FOLDER`` gives facts of one release: which
``out`` overloads have a portable or an optimized kernel, where, and the dtypes that its code
switches over.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import load_yaml

PORTABLE, OPTIMIZED = "kernels/portable", "kernels/optimized"
_LISTS = ((OPTIMIZED, "optimized.yaml"), (PORTABLE, "functions.yaml"))
"""The first that has an overload is what runs, as in ``merge_yaml`` of ``Codegen.cmake``."""
_EDGE = "exir/dialects/edge/edge.yaml"
_PARTS = {
    "INT": ("uint8", "int8", "int16", "int32", "int64"),
    "FLOAT": ("float32", "float64"),
    "REAL": ("uint8", "int8", "int16", "int32", "int64", "float32", "float64"),
    "COMPLEX": ("complex64", "complex128"),
    "ALL": ("uint8", "int8", "int16", "int32", "int64", "float32", "float64", "float16",
            "bfloat16", "bool", "complex32", "complex64", "complex128"),
}  # fmt: skip
_MORE = {
    "H": ("float16",), "B": ("bool",), "BF16": ("bfloat16",),
    "Half": ("float16",), "BFloat16": ("bfloat16",), "Bool": ("bool",), "Long": ("int64",),
    "Byte": ("uint8",), "Int": ("int32",), "UInt16": ("uint16",),
}  # fmt: skip
_CLASS = re.compile(r"(INT|FLOAT|REAL|COMPLEX|ALL)(H?)(B?)(BF16)?")
_SWITCH = re.compile(r"ET_SWITCH_(?!TWO)([A-Z0-9]+?)_TYPES(?:_AND\d?)?\(\s*((?:\w+,\s*){0,3})")
_SUPPORTED = re.compile(r"SupportedTensorDtypes::([A-Z0-9_]+)")
_UFUNC = re.compile(r"(?:DEFINE_UNARY_UFUNC|unary_ufunc)_([A-Za-z0-9]+?)(?:_(?:TO|to)_\w+)?\(")
_PATTERNS = {"comparison_op.h": "REALHBBF16", "logical_op.h": "REALHBBF16", "bitwise_op.h": "INTB"}
"""Headers of patterns that a kernel is made by, and what they take."""
_READ = {
    "abs.out": ("REALHBF16", "COMPLEXH"),
    "bitwise_not.out": ("INTB",),
    "view_as_real_copy.out": ("COMPLEXH",),
    "masked_select.out": ("REALHBBF16",),
}
"""Kernels whose dtypes more than one switch tells, or none; read in the code of 1.4.1."""
_CASE = re.compile(r"case ScalarType::(\w+):")
_FLOATS = "tensor_is_floating_type(in"
_DEFINED = re.compile(r"^(?:Tensor&|std::tuple<[^;{]*?>|void)\s+(?:opt_)?(\w+)\(", re.M)
_MACRO = re.compile(r"^DEFINE_UNARY_UFUNC_\w+\(\s*(\w+),", re.M)
_NAMED = {"Bool": "bool", "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32",
          "Long": "int64", "Half": "float16", "BFloat16": "bfloat16", "Float": "float32",
          "Double": "float64", "UInt16": "uint16", "ComplexFloat": "complex64",
          "ComplexDouble": "complex128", "ComplexHalf": "complex32"}  # fmt: skip


class Kernel(Struct, frozen=True):
    """One kernel of a release."""

    at: str
    """``path:line`` of its function."""
    takes: tuple[str, ...]
    """Dtypes of what it reads; () any."""
    leaves: bool = False
    """Whether it hands calls to the portable kernel."""


def dtypes(name: str) -> tuple[str, ...]:
    """The dtypes of a class such as ``REALHBBF16``; () of one that no table here has."""
    match = _CLASS.fullmatch(name.upper())
    if match is None:
        return ()
    kind, half, boolean, brain = match.groups()
    found = [*_PARTS[kind], *(_MORE["H"] if half else ()), *(_MORE["B"] if boolean else ())]
    if kind == "COMPLEX" and half:
        found = ["complex32", *_PARTS[kind]]
    return (*found, *(_MORE["BF16"] if brain else ()))


def takes(text: str) -> tuple[str, ...]:
    """The dtypes that a kernel's code reads, by what it switches over; () any."""
    switches = list(_SWITCH.finditer(text))
    found: set[str] = set()
    for match in _UFUNC.finditer(text):
        found |= set(dtypes(match[1]))
    for header, name in _PATTERNS.items():
        found |= set(dtypes(name)) if header in text else set()
    supported = [set(dtypes(name)) for name in _SUPPORTED.findall(text)]
    if any(supported) or found:
        found |= set().union(*supported)
        switches = [each for each in switches if each[1].startswith("COMPLEX")]
    for match in switches:
        found |= set(dtypes(match[1])) | set(_added(match[2]))
    found |= {_NAMED[name] for name in _CASE.findall(text) if name in _NAMED}
    floats = dtypes("FLOATHBF16")
    return tuple(sorted(found & set(floats) if _FLOATS in text else found))


def _added(names: str) -> Iterator[str]:
    for name in names.split(","):
        yield from _MORE.get(name.strip(), ())


def kernels(folder: Path) -> dict[str, Kernel]:
    """``add.out`` -> the kernel that runs it: the optimized one, else the portable one."""
    found: dict[str, Kernel] = {}
    portable = dict(_functions(folder, PORTABLE))
    for library, listed in _LISTS:
        if (folder / library / listed).exists():
            defined = dict(_functions(folder, library))
            for name, function in _listed(folder / library / listed):
                if name not in found and function in defined:
                    kernel = _with_rest(defined[function], portable.get(function))
                    found[name] = _as_read(name, kernel)
    return found


def _with_rest(kernel: Kernel, portable: Kernel | None) -> Kernel:
    """With the dtypes that an optimized kernel leaves to the portable one."""
    if not kernel.leaves or portable is None:
        return kernel
    return Kernel(kernel.at, tuple(sorted({*kernel.takes, *portable.takes})))


def _as_read(name: str, kernel: Kernel) -> Kernel:
    read = {dtype for each in _READ.get(name, ()) for dtype in dtypes(each)}
    return Kernel(kernel.at, tuple(sorted(read))) if read else kernel


def _listed(path: Path) -> Iterator[tuple[str, str]]:
    """Overloads of a list, with the functions that it names."""
    for item in load_yaml(path):
        name = item.get("op") or item["func"].partition("(")[0]
        for kernel in item.get("kernels", ()):
            yield name, kernel["kernel_name"].rpartition("::")[2].removeprefix("opt_")


def _functions(folder: Path, library: str) -> Iterator[tuple[str, Kernel]]:
    for path in sorted((folder / library / "cpu").glob("op_*.cpp")):
        text = path.read_text(encoding="utf-8")
        for match in (*_DEFINED.finditer(text), *_MACRO.finditer(text)):
            line = text.count("\n", 0, match.start()) + 1
            at = f"{path.relative_to(folder)}:{line}"
            leaves = library == OPTIMIZED and f"return {match[1]}(" in text
            yield match[1], Kernel(at, takes(text), leaves)


def constraints(folder: Path) -> dict[str, list[tuple[frozenset[str], frozenset[str]]]]:
    """Overload -> dtypes of its first tensor and of its first result that the verifier passes."""
    found = {}
    for item in load_yaml(folder / _EDGE):
        alias = {key: _names(value) for key, value in item.get("type_alias", {}).items()}
        rows = item.get("type_constraint", [])
        found[item["func"]] = list(
            dict.fromkeys((alias[_first(row)], alias.get(row.get("__ret_0", ""), frozenset()))
                          for row in rows)
        )  # fmt: skip
    return found


def _first(row: Mapping[str, str]) -> str:
    own = {key: value for key, value in row.items() if key != "condition"}
    return own[next(iter(own))]


def _names(listed: Any) -> frozenset[str]:
    return frozenset(_NAMED.get(name, name.lower()) for name in listed)


def main() -> None:
    """Print the kernels of a folder of sources."""
    folder = Path(sys.argv[1])
    for name, kernel in sorted(kernels(folder).items()):
        said = {"at": kernel.at, "takes": list(kernel.takes)}
        sys.stdout.write(f"{name}: {yaml_writer.flow(said)}\n")


if __name__ == "__main__":
    main()
