"""The kernels that are written compile, and compute what the CPU's do, wherever that can be run.

What they are compiled with here is a host compiler and, where it is installed, nvcc; the vendors'
headers are stood in for by the folder ``stubs``.
"""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from opcheck.rewrite.custom.base import toolchains
from opcheck.rewrite.custom.expressions import TABLE
from opcheck.rewrite.custom.signature import Signature
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.custom.made import CALLS, CHAINS, STUBS, made, without_error, written
from tests.rewrite.custom.test_expressions import arguments, signature_of

COMPILER = shutil.which("g++")
NVCC = shutil.which("nvcc")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no g++ here")
GPU = [name for name, chain in CHAINS.items() if hasattr(chain, "runtime")]
VECTOR = ["ascend-c", "bang-c"]


def by_expression(name: str) -> list[str]:
    """Overloads whose kernel is written for a toolchain."""
    return [op for op in sorted(TABLE) if CHAINS[name].body(signature_of(op)).written]


def compiled(folder: Path, text: str, *flags: str) -> Path:
    assert COMPILER is not None
    source, library = folder / "all.cpp", folder / "all.so"
    source.write_text(text, encoding="utf-8")
    command = [COMPILER, "-std=c++17", "-w", f"-I{STUBS}", *flags, str(source)]
    done = subprocess.run(
        [*command, "-shared", "-fPIC", "-o", str(library)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return library


def on_host(text: str) -> str:
    """A kernel's text with launches as calls of what stands in for them."""
    launch = r"(run(?:<T>)?)<<<(.*?)>>>(\(.*?\));"
    return re.sub(launch, r"launched(\2, [&] { \1\3; });", without_error(text))


# --- numbers as the binding hands them over ------------------------------------------------------

DIMS = 12
DTYPES = {torch.float32: 0, torch.float64: 1, torch.int64: 2}


class View(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("dims", ctypes.c_int), ("count", ctypes.c_int64),
        ("sizes", ctypes.c_int64 * DIMS), ("strides", ctypes.c_int64 * DIMS),
    )  # fmt: skip


def view(tensor: Tensor) -> View:
    found = View(tensor.data_ptr(), tensor.dim(), tensor.numel())
    found.sizes[: tensor.dim()] = list(tensor.shape)
    found.strides[: tensor.dim()] = list(tensor.stride())
    return found


def struct(s: Signature) -> type[ctypes.Structure]:
    fields: list[tuple[str, Any]] = [(a.name, View) for a in s.tensors]
    fields += [(a.name, ctypes.c_double) for a in s.values]
    fields.append(("result0", View))
    return type("Arguments", (ctypes.Structure,), {"_fields_": fields})


def entry(name: str, dtype: str = "0") -> str:
    """A C function that starts the kernel of a package."""
    given = f"*static_cast<{name}::Arguments*>(given), count, nullptr"
    call = f"{name}::launch({f'{name}::Dtype({dtype}), ' if dtype else ''}{given})"
    how = f'extern "C" int run_{name}(int dtype, void* given, long count)'
    return f"{how} {{ {'return ' + call + ' != nullptr' if dtype else call + '; return 0'}; }}\n"


def computed(library: ctypes.CDLL, s: Signature, name: str, given: dict[str, Any]) -> Tensor:
    like = next(x for x in given.values() if isinstance(x, Tensor))
    result = torch.empty_like(like)
    arguments = struct(s)()
    for key, value in given.items():
        setattr(arguments, key, view(value) if isinstance(value, Tensor) else value)
    arguments.result0 = view(result)
    run = getattr(library, f"run_{name}")
    assert run(DTYPES[like.dtype], ctypes.byref(arguments), ctypes.c_long(result.numel())) == 0
    return result


def require_close(found: Tensor, wanted: Tensor, near: float, op: str) -> None:
    torch.testing.assert_close(
        found, wanted.to(found.dtype), rtol=near, atol=near, equal_nan=True,
        msg=lambda text: f"{op}: {text}",
    )  # fmt: skip


# --- one number at a time ------------------------------------------------------------------------


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", GPU)
def test_gpu_kernels_compute_what_the_cpu_does(name: str, tmp_path: Path) -> None:
    ops = by_expression(name)
    assert set(ops) == set(TABLE)
    text = ""
    for op in ops:
        project = made(CHAINS[name], op)
        folder = written(tmp_path, project)
        (kernel,) = (path for path in folder.glob("csrc/kernel.*") if path.suffix != ".h")
        kernel.write_text(on_host(kernel.read_text(encoding="utf-8")), encoding="utf-8")
        text += f'#include "{kernel}"\n{entry(project.name, "dtype")}'
    library = ctypes.CDLL(str(compiled(tmp_path, text)))
    for op in ops:
        s, project = signature_of(op), made(CHAINS[name], op)
        given = arguments(s, torch.float64)
        wanted = overload_named(op)(**given)
        require_close(computed(library, s, project.name, given), wanted, 1e-9, op)
        single = flat(s)
        wanted = overload_named(op)(**single)
        require_close(computed(library, s, project.name, single), wanted, 2e-4, op)


@needs_compiler
def test_a_kernel_follows_strides(tmp_path: Path) -> None:
    project = made(CHAINS["cuda"], "aten::lerp.Scalar")
    folder = written(tmp_path, project)
    kernel = folder / "csrc" / "kernel.cu"
    kernel.write_text(on_host(kernel.read_text(encoding="utf-8")), encoding="utf-8")
    library = ctypes.CDLL(
        str(compiled(tmp_path, f'#include "{kernel}"\n{entry(project.name, "dtype")}'))
    )
    x, row = torch.randn(3, 4, dtype=torch.float64).t(), torch.randn(3, dtype=torch.float64)
    given = {"self": x, "end": row.expand(4, 3), "weight": 0.25}
    s = signature_of("aten::lerp.Scalar")
    require_close(computed(library, s, project.name, given), torch.lerp(x, row, 0.25), 1e-12, s.op)


@pytest.mark.slow
@pytest.mark.skipif(not NVCC, reason="no nvcc here: CUDA kernels are not compiled for a GPU")
def test_nvcc_compiles_every_cuda_kernel(tmp_path: Path) -> None:
    assert NVCC is not None
    text = ""
    for op in sorted({*TABLE, *CALLS} - {"aten::atan2.out"}):
        folder = written(tmp_path, made(CHAINS["cuda"], op), finish=True)
        text += f'#include "{folder}/csrc/kernel.cu"\n'
    source = tmp_path / "all.cu"
    source.write_text(text, encoding="utf-8")
    at_once = ["-Xcicc", "-O0", "-Xptxas", "-O0"]  # what is optimized is not run
    command = [NVCC, "-std=c++17", "-arch=sm_80", *at_once, "-c", str(source)]
    command += ["-o", str(tmp_path / "all.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.slow
@pytest.mark.skipif(not NVCC, reason="no nvcc here: CUDA kernels are not compiled for a GPU")
def test_a_kernel_that_is_left_to_write_does_not_build(tmp_path: Path) -> None:
    assert NVCC is not None
    folder = written(tmp_path, made(CHAINS["cuda"], "aten::mode"))
    command = [NVCC, "-c", "-o", str(tmp_path / "k.o"), str(folder / "csrc" / "kernel.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "write compute(), then take this line away" in done.stderr


def metal_entry(s: Signature, name: str) -> str:
    """A C function that starts a Metal kernel for each place of the result."""
    tensors = [f"float* {a.name}" for a in s.tensors]
    values = [f"float {a.name}" for a in s.values]
    how = ", ".join([*tensors, "float* result", *values, "long count"])
    given = ", ".join([*(a.name for a in s.tensors), "result", *(a.name for a in s.values)])
    call = f"for (uint i = 0; i < count; ++i) in_{name}::run({given}, i);"
    return f'extern "C" void run_{name}({how}) {{ {call} }}\n'


@pytest.mark.slow
@needs_compiler
def test_metal_kernels_compute_what_the_cpu_does(tmp_path: Path) -> None:
    ops = by_expression("metal")
    assert set(TABLE) - set(ops) == {"aten::lgamma"}
    text = "#include <metal_stdlib>\n#define T float\n"
    for op in ops:
        folder = written(tmp_path, made(CHAINS["metal"], op))
        kernel = folder / folder.name / "kernel.metal"
        text += f'namespace in_{folder.name} {{\n#include "{kernel}"\n}}\n'
        text += metal_entry(signature_of(op), folder.name)
    library = ctypes.CDLL(str(compiled(tmp_path, text)))
    for op in ops:
        given = flat(signature_of(op))
        tensors = [value for value in given.values() if isinstance(value, Tensor)]
        found = torch.empty_like(tensors[0])
        places = [ctypes.c_void_p(x.data_ptr()) for x in (*tensors, found)]
        numbers = [ctypes.c_float(v) for v in given.values() if not isinstance(v, Tensor)]
        run = getattr(library, f"run_{made(CHAINS['metal'], op).name}")
        run(*places, *numbers, ctypes.c_long(found.numel()))
        require_close(found, overload_named(op)(**given), near_of(op), op)


# --- whole vectors -------------------------------------------------------------------------------


def flat(s: Signature) -> dict[str, Any]:
    """Numbers of single precision that do not leave its range on the way, and edges."""
    return {
        name: torch.where(value.isfinite(), value.clamp(-6, 6), value)
        if isinstance(value, Tensor)
        else value
        for name, value in arguments(s, torch.float32).items()
    }


def near_of(op: str) -> float:
    """Rounding in single precision: squares are taken to powers where the function grows fast."""
    return 2e-4 if "erfc" in TABLE[op] else 2e-5


@pytest.mark.slow
@needs_compiler
def test_bang_kernels_compute_what_the_cpu_does(tmp_path: Path) -> None:
    ops = by_expression("bang-c")
    assert set(TABLE) - set(ops) == {"aten::atan2", "aten::fmod.Tensor", "aten::lgamma"}
    text = ""
    for op in ops:
        folder = written(tmp_path, made(CHAINS["bang-c"], op))
        kernel = folder / "csrc" / "kernel.mlu"
        kernel.write_text(on_host(kernel.read_text(encoding="utf-8")), encoding="utf-8")
        text += f'#include "{kernel}"\n{entry(folder.name, "")}'
    library = ctypes.CDLL(str(compiled(tmp_path, text)))
    for op in ops:
        s, given = signature_of(op), flat(signature_of(op))
        found = computed(library, s, made(CHAINS["bang-c"], op).name, given)
        require_close(found, overload_named(op)(**given), near_of(op), op)


@needs_compiler
@pytest.mark.parametrize("count", [1, 4095, 4096, 4097, 32 * 4096 + 5])
def test_a_bang_kernel_writes_all_of_its_result_and_nothing_else(
    count: int, tmp_path: Path
) -> None:
    op = "aten::leaky_relu"
    folder = written(tmp_path, made(CHAINS["bang-c"], op))
    kernel = folder / "csrc" / "kernel.mlu"
    kernel.write_text(on_host(kernel.read_text(encoding="utf-8")), encoding="utf-8")
    library = ctypes.CDLL(str(compiled(tmp_path, f'#include "{kernel}"\n{entry(folder.name, "")}')))
    room = torch.full((count + 64,), 7.0)
    given = struct(signature_of(op))()
    x = torch.randn(count)
    given.self, given.negative_slope, given.result0 = view(x), 0.25, view(room[:count])
    library[f"run_{folder.name}"](0, ctypes.byref(given), ctypes.c_long(count))
    require_close(room[:count], torch.nn.functional.leaky_relu(x, 0.25), 0.0, op)
    assert torch.equal(room[count:], torch.full((64,), 7.0))


TILE = 1024


def with_tiling(folder: Path) -> str:
    """What comes before a kernel, so that it reads the tiling data that the host's side writes."""
    (header,) = folder.glob("op/op_host/*_tiling.h")
    operator = "".join(part.capitalize() for part in folder.name.split("_"))
    data = f"#undef TILING\n#define TILING optiling::{operator}TilingData\n"
    return f'#include "{header}"\n{data}'


def ascend_tiling(s: Signature, given: dict[str, Any], count: int) -> ctypes.Structure:
    fields = [("tiles", ctypes.c_int64), ("count", ctypes.c_int64)]
    fields += [(a.name, ctypes.c_float) for a in s.values]  # type: ignore[misc]  # one list of two
    kind = type("Tiling", (ctypes.Structure,), {"_fields_": fields})
    found: ctypes.Structure = kind(-(-count // TILE), count, *(given[a.name] for a in s.values))
    return found


def padded(tensor: Tensor) -> Tensor:
    """Whole tiles, as the binding hands them over."""
    return torch.nn.functional.pad(tensor, (0, -tensor.numel() % TILE))


@pytest.mark.slow
@needs_compiler
def test_ascend_kernels_compute_what_the_cpu_does(tmp_path: Path) -> None:
    ops = by_expression("ascend-c")
    assert set(TABLE) - set(ops) == {"aten::atan2"}
    text = ""
    for op in ops:
        folder = written(tmp_path, made(CHAINS["ascend-c"], op))
        (kernel,) = folder.glob("op/op_kernel/*.cpp")
        text += f'{with_tiling(folder)}namespace in_{folder.name} {{\n#include "{kernel}"\n}}\n'
    text = f"#include <kernel_operator.h>\n{text}"
    library = ctypes.CDLL(str(compiled(tmp_path, text)))
    for op in ops:
        s = signature_of(op)
        given = {
            name: torch.cat([value] * 6) if isinstance(value, Tensor) else value
            for name, value in flat(s).items()
        }
        wanted = overload_named(op)(**given)
        vectors = [padded(value) for value in given.values() if isinstance(value, Tensor)]
        result = torch.empty_like(vectors[0])
        tiling = ascend_tiling(s, given, result.numel())
        places = [ctypes.c_void_p(x.data_ptr()) for x in (*vectors, result)]
        getattr(library, made(CHAINS["ascend-c"], op).name)(*places, None, ctypes.byref(tiling))
        require_close(result[: wanted.numel()], wanted.float(), near_of(op), op)


def test_chips_without_the_mathematical_interface_get_none_of_it() -> None:
    body = CHAINS["ascend-c"].body(signature_of("aten::erf"), "310b")
    assert body.written
    assert not any("Erf(" in line for line in body.lines)
    older = CHAINS["ascend-c"].body(signature_of("aten::erf"), "910a")
    assert older.left == "Ascend C is not known to have <"


@needs_compiler
@pytest.mark.parametrize("op", CALLS)
@pytest.mark.parametrize("name", VECTOR)
def test_every_file_of_a_vector_project_is_read_by_a_compiler(
    name: str, op: str, tmp_path: Path
) -> None:
    folder = written(tmp_path, made(CHAINS[name], op), finish=True)
    paths = ["csrc/kernel.mlu"] if name == "bang-c" else ["op/op_host/*.cpp", "op/op_kernel/*.cpp"]
    sources = [source for path in paths for source in folder.glob(path)]
    assert len(sources) == len(paths)
    for source in sources:
        text = on_host(source.read_text(encoding="utf-8"))
        if source.parent.name == "op_kernel":
            text = with_tiling(folder) + text
        source.write_text(text, encoding="utf-8")
        require_syntax(source, "-x", "c++")


def require_syntax(source: Path, *flags: str) -> None:
    assert COMPILER is not None
    command = [COMPILER, "-std=c++17", "-w", "-fsyntax-only", f"-I{STUBS}", *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("chain", toolchains(), ids=lambda chain: chain.name)
def test_a_vector_program_frees_what_it_has_used(chain: Any) -> None:
    body = chain.body(signature_of("aten::special_erfcx"))
    assert body.buffers <= 7


def test_words_that_a_language_lacks_leave_the_kernel_to_write() -> None:
    found = {
        chain.name: chain.body(signature_of("aten::special_erfcx")).left for chain in toolchains()
    }
    assert found == {
        "ascend-c": "",
        "bang-c": "",
        "cuda": "",
        "hip": "",
        "metal": "",
        "musa-c": "",
        "triton": "",
        "triton-ascend": "",
    }
