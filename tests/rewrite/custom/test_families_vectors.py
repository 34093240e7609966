"""Kernels of families compute what the CPU's do, where an instruction takes a whole vector."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from opcheck.rewrite.custom.families.gathers import Scatter
from opcheck.rewrite.custom.families.loops import Loops
from tests.rewrite.custom.hosted import interface_of, near, on_host, require_as_the_cpu, struct
from tests.rewrite.custom.made import CHAINS, made, written
from tests.rewrite.custom.samples import FAMILIES
from tests.rewrite.custom.test_families import compiled, needs_compiler
from tests.rewrite.custom.test_kernels import with_tiling
from tests.rewrite.custom.vectors import TILE, Run, vector_start


def bang_run(library: ctypes.CDLL, op: str, package: str) -> Run:
    """Starts a kernel, one task after the other."""
    kind, call = struct(interface_of(op)), getattr(library, f"run_{package}")
    return lambda tensors, sizes, values: call(
        ctypes.byref(kind(*(x.data_ptr() for x in tensors), *sizes, *values))
    )


@pytest.mark.slow
@needs_compiler
def test_bang_kernels_of_families_compute_what_the_cpu_does(tmp_path: Path) -> None:
    text, names = "", dict[str, str]()
    for op in FAMILIES:
        project = made(CHAINS["bang-c"], op)
        assert not project.left
        folder, names[op] = written(tmp_path, project), project.name
        kernel = folder / "csrc" / "kernel.mlu"
        kernel.write_text(on_host(kernel.read_text(encoding="utf-8")), encoding="utf-8")
        text += f'#include "{kernel}"\nextern "C" void run_{project.name}(void* given) {{\n'
        text += f"  {project.name}::launch(*({project.name}::Arguments*)given, nullptr);\n}}\n"
    library = compiled(tmp_path, text)

    for op, package in names.items():
        start = vector_start(op, bang_run(library, op, package), whole_results=False)
        assert require_as_the_cpu(op, start, near)


def ascend_units(op: str, sizes: Sequence[int]) -> int:
    """What the host's side divides among cores."""
    match FAMILIES[op].kind:
        case "product":
            batch, rows, _, columns = sizes
            return batch * -(-rows // 8) * (columns // TILE)
        case "gather":
            outer, _, inner, count = sizes
            single = op in ("aten::gather", "aten::take")
            return -(-outer * inner * count // TILE) if single else outer * count
        case "scatter":
            return sizes[0] * -(-sizes[2] // TILE)
        case "loops":
            return -(-sizes[0] // TILE)
        case _:
            return sizes[0] // TILE


def ascend_run(library: ctypes.CDLL, op: str, package: str) -> Run:
    """Starts a kernel on three cores, one after the other."""
    k, call = interface_of(op), getattr(library, package)
    fields: list[tuple[str, Any]] = [(n, ctypes.c_int64) for n in ("units", *k.sizes)]
    fields += [(name, ctypes.c_float) for name in k.values]
    kind = type("Tiling", (ctypes.Structure,), {"_fields_": fields})
    base = isinstance(FAMILIES[op], Scatter)

    def called(tensors: Sequence[Tensor], sizes: Sequence[int], values: Sequence[float]) -> None:
        tiling = kind(ascend_units(op, sizes), *sizes, *map(float, values))
        before = [tensors[-1].clone()] if base else []
        places = [x.data_ptr() for x in (*tensors[:-1], *before, tensors[-1])]
        for core in range(3):
            library.on_core(ctypes.c_long(core), ctypes.c_long(3))
            call(*map(ctypes.c_void_p, places), None, ctypes.byref(tiling))

    return called


@pytest.mark.slow
@needs_compiler
def test_ascend_kernels_of_families_compute_what_the_cpu_does(tmp_path: Path) -> None:
    text, names = "#include <kernel_operator.h>\n", dict[str, str]()
    for op, found in FAMILIES.items():
        project = made(CHAINS["ascend-c"], op)
        if isinstance(found, Scatter | Loops) and not found.alone:
            assert "one by one share lines of the cache" in project.left
            continue
        assert not project.left
        folder, names[op] = written(tmp_path, project), project.name
        (kernel,) = folder.glob("op/op_kernel/*.cpp")
        text += f'{with_tiling(folder)}namespace in_{project.name} {{\n#include "{kernel}"\n}}\n'
    text += """extern "C" void on_core(long block, long blocks) {
  AscendC::block = block, AscendC::blocks = blocks;
}
"""
    library = compiled(tmp_path, text)

    for op, package in names.items():
        start = vector_start(op, ascend_run(library, op, package), whole_results=True)
        assert require_as_the_cpu(op, start, near)
