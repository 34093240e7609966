"""Kernels of reductions, scans, gathers and products compute what the CPU's do."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.custom.expressions import TABLE
from tests.rewrite.custom.hosted import (
    NotComputedError,
    Start,
    interface_of,
    near,
    on_host,
    require_as_the_cpu,
    struct,
)
from tests.rewrite.custom.made import CHAINS, STUBS, made, written
from tests.rewrite.custom.samples import FAMILIES

COMPILER = shutil.which("g++")
NVCC = shutil.which("nvcc")
HIPCC = shutil.which("hipcc")
CLANG = shutil.which("clang")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no g++ here")
GPU = [name for name, chain in CHAINS.items() if hasattr(chain, "runtime")]
DTYPES = {torch.float32: 0, torch.float64: 1, torch.int64: 2}


OF_EACH_KIND = ("aten::var_mean.correction", "aten::cummax", "aten::_log_softmax",
                "aten::embedding", "aten::index_add", "aten::_addmm_activation",
                "aten::max_pool2d_with_indices", "aten::sort")  # fmt: skip


def smaller(text: str) -> str:
    """A kernel's text with small blocks, so that short rows take many of them."""
    return text.replace("THREADS = 256", "THREADS = 32").replace("TILE = 16", "TILE = 4")


def compiled(folder: Path, text: str) -> ctypes.CDLL:
    assert COMPILER is not None
    source, library = folder / "all.cpp", folder / "all.so"
    source.write_text(text, encoding="utf-8")
    command = [COMPILER, "-std=c++17", "-w", "-O1", f"-I{STUBS}", str(source)]
    done = subprocess.run(
        [*command, "-shared", "-fPIC", "-o", str(library)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return ctypes.CDLL(str(library))


def gpu_start(library: ctypes.CDLL, op: str, name: str) -> Start:
    """Starts a kernel that a host compiler has read, one thread after the other."""
    kind, run = struct(interface_of(op)), getattr(library, f"run_{name}")

    def start(
        given: Sequence[Tensor], results: Sequence[Tensor], sizes: Sequence[int],
        values: Sequence[float],
    ) -> None:  # fmt: skip
        places = [x.data_ptr() for x in (*given, *results)]
        arguments = kind(*places, *sizes, *values)
        numbers = [x.dtype for x in (*given, *results) if x.dtype.is_floating_point]
        dtype = numbers[0] if numbers else torch.int64
        assert run(DTYPES[dtype], ctypes.byref(arguments)) == 0

    return start


def gpu_entry(name: str) -> str:
    """A C function that starts the kernel of a package."""
    call = f"{name}::launch({name}::Dtype(dtype), *static_cast<{name}::Arguments*>(given), nullptr)"
    return f'extern "C" int run_{name}(int dtype, void* given) {{ return {call} != nullptr; }}\n'


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", GPU)
def test_gpu_kernels_of_families_compute_what_the_cpu_does(name: str, tmp_path: Path) -> None:
    text, names = "", dict[str, str]()
    # the three share their text: all of it once, of the others an operator of each kind
    for op in FAMILIES if name == "cuda" else OF_EACH_KIND:
        project = made(CHAINS[name], op)
        assert not project.left
        folder = written(tmp_path, project)
        (kernel,) = (path for path in folder.glob("csrc/kernel.*") if path.suffix != ".h")
        kernel.write_text(smaller(on_host(kernel.read_text(encoding="utf-8"))), encoding="utf-8")
        text += f'#include "{kernel}"\n{gpu_entry(project.name)}'
        names[op] = project.name
    library = compiled(tmp_path, text)
    for op, package in names.items():
        assert require_as_the_cpu(op, gpu_start(library, op, package), near)


METAL = """
#undef T
#undef LOWEST
#undef HIGHEST
#define T {number}
#define LOWEST {least}
#define HIGHEST {most}
namespace of_{number}_{name} {{
{text}
}}
extern "C" void run_{number}_{name}(
    unsigned groups, unsigned count, void** given, long* sizes, float* values) {{
  launched(groups, count, 0, nullptr, [&] {{ of_{number}_{name}::run({call}); }});
}}
"""
NUMBERS = {
    torch.float32: ("float", "(-INFINITY)", "INFINITY"),
    torch.int64: ("long", "INT64_MIN", "INT64_MAX"),
}


def metal_text(op: str, name: str, text: str, dtype: torch.dtype) -> str:
    """A kernel in Metal's language for one dtype, and a C function that starts it."""
    k, (number, least, most) = interface_of(op), NUMBERS[dtype]
    operands = (*k.tensors, *k.results)
    call = [f"({'long' if a.whole else number}*)given[{i}]" for i, a in enumerate(operands)]
    call += [f"sizes[{i}]" for i in range(len(k.sizes))]
    call += [f"values[{i}]" for i in range(len(k.values))]
    if "threadgroups_per_grid" in text:
        call += ["blockIdx.x", "gridDim.x", "threadIdx.x"]
    else:
        call += ["blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"]
    text = "\n".join(
        line for line in text.splitlines() if not line.startswith(("#include", "using"))
    )
    return METAL.format(
        number=number, least=least, most=most, name=name, text=text, call=", ".join(call)
    )


def metal_start(library: ctypes.CDLL, op: str, name: str, threads: int) -> Start:
    """Starts a kernel in three groups, for one dtype."""

    def start(
        given: Sequence[Tensor], results: Sequence[Tensor], sizes: Sequence[int],
        values: Sequence[float],
    ) -> None:  # fmt: skip
        operands = [*given, *results]
        if any(x.dtype is torch.float64 for x in operands):
            raise NotComputedError
        whole = not any(x.dtype.is_floating_point for x in operands)
        run = getattr(library, f"run_{NUMBERS[torch.int64 if whole else torch.float32][0]}_{name}")
        places = (ctypes.c_void_p * len(operands))(*(x.data_ptr() for x in operands))
        counts = (ctypes.c_long * len(sizes))(*sizes)
        numbers = (ctypes.c_float * len(values))(*map(float, values))
        run(ctypes.c_uint(3), ctypes.c_uint(threads), places, counts, numbers)

    return start


@pytest.mark.slow
@needs_compiler
def test_metal_kernels_of_families_compute_what_the_cpu_does(tmp_path: Path) -> None:
    text, names = "#include <metal_stdlib>\nusing namespace metal;\n", dict[str, str]()
    for op in FAMILIES:
        project = made(CHAINS["metal"], op)
        assert not project.left
        names[op] = project.name
        kernel = project.files[f"{project.name}/kernel.metal"].replace("THREADS 256", "THREADS 16")
        kernel = kernel.replace("TILE 16", "TILE 4")
        whole = "the kernel computes no integers" not in project.files[f"{project.name}/kernel.py"]
        for dtype in (torch.float32, torch.int64) if whole else (torch.float32,):
            text += metal_text(op, project.name, kernel, dtype) + "#undef THREADS\n#undef TILE\n"
    library = compiled(tmp_path, text)
    for op, package in names.items():
        start = metal_start(library, op, package, 16)
        assert require_as_the_cpu(op, start, near)


@pytest.mark.slow
@pytest.mark.skipif(not CLANG, reason="no clang here: the syntax of CUDA is not checked by it")
@pytest.mark.parametrize("side", ["host", "device"])
def test_clang_reads_every_cuda_kernel_of_a_family(side: str, tmp_path: Path) -> None:
    assert CLANG is not None
    text = ""
    for op in FAMILIES:
        folder = written(tmp_path, made(CHAINS["cuda"], op))
        text += f'#include "{folder}/csrc/kernel.cu"\n'
    source = tmp_path / "all.cu"
    source.write_text(text, encoding="utf-8")
    command = [CLANG, "-x", "cuda", f"--cuda-{side}-only", "--cuda-gpu-arch=sm_70", "-nocudainc"]
    command += ["-nocudalib", "-fsyntax-only", "-std=c++17", "-w", f"-I{STUBS / 'clang'}"]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.slow
@pytest.mark.skipif(not NVCC, reason="no nvcc here: CUDA kernels are not compiled for a GPU")
def test_nvcc_compiles_every_cuda_kernel_of_a_family(tmp_path: Path) -> None:
    assert NVCC is not None
    text = ""
    for op in FAMILIES:
        folder = written(tmp_path, made(CHAINS["cuda"], op))
        text += f'#include "{folder}/csrc/kernel.cu"\n'
    source = tmp_path / "all.cu"
    source.write_text(text, encoding="utf-8")
    at_once = ["-Xcicc", "-O0", "-Xptxas", "-O0"]  # what is optimized is not run
    command = [NVCC, "-std=c++17", "-arch=sm_80", *at_once, "-c", str(source)]
    command += ["-o", str(tmp_path / "all.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.slow
@pytest.mark.skipif(not HIPCC, reason="no hipcc here: HIP kernels are not compiled for a GPU")
def test_hipcc_compiles_every_hip_kernel(tmp_path: Path) -> None:
    assert HIPCC is not None
    text = ""
    for op in (*FAMILIES, *TABLE):
        folder = written(tmp_path, made(CHAINS["hip"], op))
        text += f'#include "{folder}/csrc/kernel.hip"\n'
    source = tmp_path / "all.hip"
    source.write_text(text, encoding="utf-8")
    command = [HIPCC, "-std=c++17", "-O0", "--offload-arch=gfx90a", "-c", str(source)]
    command += ["-o", str(tmp_path / "all.o")]
    amd = {**os.environ, "HIP_PLATFORM": "amd"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=amd)
    assert done.returncode == 0, done.stderr[-4000:]
