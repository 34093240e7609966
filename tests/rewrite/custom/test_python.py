"""Kernels in Python: registered where they should be, and run in Triton's interpreter."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from opcheck.rewrite.custom.expressions import TABLE
from tests.rewrite.custom.made import CHAINS, STUBS, made, written
from tests.rewrite.custom.samples import FAMILIES
from tests.rewrite.custom.test_bindings import OF_FAMILIES
from tests.rewrite.custom.test_families import OF_EACH_KIND
from tests.rewrite.custom.test_kernels import by_expression, needs_compiler

TRITON = importlib.util.find_spec("triton")
IN_TRITON = ("triton", "triton-ascend")
needs_triton = pytest.mark.skipif(
    TRITON is None, reason="no triton here: its kernels are parsed, not run"
)
RUN = """
import sys, torch
x, row = torch.randn(5, 3), torch.randn(3)
calls = {
    "lerp": lambda: torch.lerp(x, row, 0.25), "place": lambda: x.clone().lerp_(row, 0.75),
    "sigmoid": lambda: torch.sigmoid(x), "half": lambda: torch.sigmoid(x.half()),
    "whole": lambda: torch.sigmoid(torch.arange(3)), "empty": lambda: torch.sigmoid(x[:0]),
    "sign": lambda: torch.sign(torch.tensor([3, 0, -2])),
}
before = {name: call() for name, call in calls.items()}
import opcheck_lerp_scalar, opcheck_sigmoid, opcheck_sign
for name, call in calls.items():
    near = 2e-3 if name == "half" else 1e-5
    torch.testing.assert_close(call(), before[name], rtol=near, atol=near)
print("held")
"""


def run(
    folder: Path, *arguments: str, interpreted: bool = True
) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    more = {"PYTHONPATH": path, "STUBS": str(STUBS), "IN_TURNS": IN_TURNS}
    environment = {**os.environ, **more}
    if interpreted:
        environment["TRITON_INTERPRET"] = "1"
    else:
        environment["TRITON_CACHE_DIR"] = str(folder / "cache")
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=folder,
        env=environment,
    )  # fmt: skip


@pytest.mark.slow
@needs_triton
def test_triton_kernels_run_in_its_interpreter(tmp_path: Path) -> None:
    for op in ("aten::lerp.Scalar", "aten::sigmoid", "aten::sign"):
        folder = written(tmp_path / "projects", made(CHAINS["triton"], op))
        kernel = folder / folder.name / "kernel.py"
        text = kernel.read_text(encoding="utf-8").replace('"CUDA")', '"CPU")')
        kernel.write_text(text, encoding="utf-8")
        (folder / folder.name).rename(tmp_path / folder.name)
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    done = run(tmp_path, "run.py")
    assert done.stdout.strip() == "held", done.stderr[-3000:]


EVERY = """
import importlib, sys
import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.custom.test_expressions import arguments, signature_of

class Library:
    "The vendor's device library, which Triton's interpreter has not: by PyTorch's functions."
    def __getattr__(self, name):
        function = getattr(torch, {"rint": "round"}.get(name, name))
        def called(*given):
            numbers = [torch.from_numpy(np.ascontiguousarray(x.handle.data)) for x in given]
            found = function(*torch.broadcast_tensors(*numbers)).numpy()
            return tl.tensor(TensorHandle(found, given[0].handle.dtype), given[0].type)
        return called

DTYPES = {"float64": (torch.float64, 1e-9), "float32": (torch.float32, 2e-4)}
for op, package in (word.split("=") for word in sys.argv[2:]):
    kernel = importlib.import_module(f"{package}.kernel")
    kernel.libdevice = Library()
    for dtype, near in (DTYPES[name] for name in sys.argv[1].split(",")):
        given = arguments(signature_of(op), dtype)
        reach = 6 if dtype is torch.float32 else float("inf")
        for name, value in given.items():
            if isinstance(value, torch.Tensor):
                given[name] = torch.cat([value] * 6).clamp(-reach, reach)
        wanted = overload_named(op)(**given)
        tensors = [v for v in given.values() if isinstance(v, torch.Tensor)]
        found = torch.empty_like(tensors[0])
        numbers = [v for v in given.values() if not isinstance(v, torch.Tensor)]
        kernel.start(tensors, [found], numbers)
        torch.testing.assert_close(
            found, wanted.to(dtype), rtol=near, atol=near, equal_nan=True,
            msg=lambda text: f"{op}: {text}",
        )
print("held")
"""


def python_alone(folder: Path, name: str, op: str) -> str:
    """The package of a project, with its kernel that nothing registers and its cases."""
    project = written(folder / "projects", made(CHAINS[name], op))
    package = project / project.name
    text = (package / "kernel.py").read_text(encoding="utf-8")
    text = text.replace("LIBRARIES = registered()", "")
    (package / "kernel.py").write_text(text, encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    (project / "cases.py").rename(package / "cases.py")
    package.rename(folder / package.name)
    return package.name


@pytest.mark.slow
@needs_triton
@pytest.mark.parametrize("name", IN_TRITON)
def test_every_triton_kernel_computes_what_the_cpu_does(name: str, tmp_path: Path) -> None:
    ops = by_expression(name)
    lacking = {"aten::atan2", "aten::fmod.Tensor", "aten::lgamma"}
    assert set(TABLE) - set(ops) == (lacking if name == "triton-ascend" else set())
    given = [f"{op}={python_alone(tmp_path, name, op)}" for op in ops]
    (tmp_path / "every.py").write_text(EVERY, encoding="utf-8")
    dtypes = [dtype for dtype in CHAINS[name].dtypes if dtype != "int64"]
    done = run(tmp_path, "every.py", ",".join(dtypes), *given)
    assert done.stdout.strip() == "held", done.stderr[-3000:]


FAMILY = """
import importlib, sys
import torch
from opcheck.rewrite.custom.families.interface import family
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.rewrite.custom.hosted import near
from tests.rewrite.custom.samples import calls

def compared(op, kernel, call):
    try:
        wanted = overload_named(op)(**call)
    except (RuntimeError, NotImplementedError, IndexError):
        return False
    try:
        found = kernel.computed(**call)
    except NotImplementedError:  # of a dtype that it does not compute in
        return False
    pair = (found, wanted) if isinstance(wanted, tuple) else ((found,), (wanted,))
    promised = getattr(family(op), "promised", 0) or len(pair[1])
    for one, other in [*zip(*pair, strict=True)][:promised]:
        torch.testing.assert_close(
            one, other, rtol=near(other.dtype), atol=near(other.dtype), equal_nan=True,
            msg=lambda text: f"{op}: {text}",
        )
    return True

for op, package in (word.split("=") for word in sys.argv[1:]):
    kernel = importlib.import_module(f"{package}.kernel")
    assert any([compared(op, kernel, call) for call in calls(op)]), op
    made = importlib.import_module(f"{package}.cases")
    for case in filter(None, made.cases()):
        assert [compared(op, kernel, call) for _, call in made.varied(case)][0], op
print("held")
"""


@pytest.mark.slow
@needs_triton
@pytest.mark.parametrize("name", IN_TRITON)
def test_every_triton_kernel_of_a_family_computes_what_the_cpu_does(
    name: str, tmp_path: Path
) -> None:
    given = [f"{op}={python_alone(tmp_path, name, op)}" for op in FAMILIES]
    (tmp_path / "family.py").write_text(FAMILY, encoding="utf-8")
    done = run(tmp_path, "family.py", *given)
    assert done.stdout.strip() == "held", done.stderr[-3000:]


COMPILED = """
import importlib, sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tests.rewrite.custom.hosted import interface_of

TARGETS = [GPUTarget("cuda", 80, 32), GPUTarget("hip", "gfx942", 64)]
for op, package in (word.split("=") for word in sys.argv[1:]):
    kernel, k = importlib.import_module(f"{package}.kernel"), interface_of(op)
    whole = {f"{a.name}_at" for a in (*k.tensors, *k.results) if a.whole}
    numbers = {"lowest": float("-inf"), "highest": float("inf"), **dict.fromkeys(k.values, 0.5)}
    numbers |= {n: v for n, v in vars(kernel).items() if n.isupper() and isinstance(v, int)}
    types, given = {}, {}
    for name in kernel.run.arg_names:
        if name in numbers:
            types[name], given[name] = "constexpr", numbers[name]
        elif name.endswith("_at"):
            types[name] = "*i64" if name in whole else "*fp32"
        else:
            types[name] = "i32"
    for target in TARGETS:
        source = ASTSource(fn=kernel.run, signature=types, constexprs=given)
        assert triton.compile(source, target=target).asm
print("held")
"""


@pytest.mark.slow
@needs_triton
def test_triton_kernels_of_families_compile_for_gpus(tmp_path: Path) -> None:
    given = [f"{op}={python_alone(tmp_path, 'triton', op)}" for op in OF_EACH_KIND]
    (tmp_path / "compiled.py").write_text(COMPILED, encoding="utf-8")
    done = run(tmp_path, "compiled.py", *given, interpreted=False)
    assert done.stdout.strip() == "held", done.stderr[-3000:]


METAL = """
import ctypes, hashlib, os, pathlib, subprocess, sys, torch

class Shaders:
    "What torch.mps.compile_shader gives, by a host compiler and one place after the other."
    def __init__(self, text):
        source = pathlib.Path(hashlib.sha1(text.encode()).hexdigest() + ".cpp").absolute()
        self.turns = "_per_grid" in text
        text = text.replace("kernel void run", 'extern "C" void run')
        source.write_text(text + os.environ["IN_TURNS"] * self.turns)
        library = source.with_suffix(".so")
        subprocess.run(
            ["g++", "-w", "-std=c++17", "-shared", "-fPIC", f"-I{os.environ['STUBS']}",
             str(source), "-o", str(library)],
            check=True,
        )
        library = ctypes.CDLL(str(library))
        self.function, self.launch = library.run, getattr(library, "launch", None)
    def run(self, *given, threads, group_size=None):
        def handed(value):
            if isinstance(value, torch.Tensor):
                assert value.is_contiguous()
                return ctypes.c_void_p(value.data_ptr())
            kinds = {bool: ctypes.c_bool, int: ctypes.c_int64, float: ctypes.c_float}
            return ctypes.byref(kinds[type(value)](value))
        handed_over = [handed(value) for value in given]
        if self.turns:
            assert threads % (group_size or 1) == 0
            places = (ctypes.c_void_p * (len(given) + 3))()
            for number, value in enumerate(handed_over):
                if not isinstance(value, ctypes.c_void_p):
                    value = ctypes.cast(ctypes.pointer(value._obj), ctypes.c_void_p)
                places[number] = value.value
            groups = threads // (group_size or 1)
            self.launch(places, len(given), groups, group_size or 1)
            return
        for place in range(threads):
            self.function(*handed_over, ctypes.c_uint32(place))

torch.mps.compile_shader = Shaders
x, row = torch.randn(5, 3), torch.randn(3)
whole = torch.arange(6).reshape(2, 3)
calls = {
    "addcmul": lambda: torch.addcmul(x, x, row),
    "strided": lambda: torch.addcmul(x.t(), x.t(), x.t(), value=2),
    "place": lambda: x.clone().addcmul_(x, row, value=0.5),
    "empty": lambda: torch.addcmul(x[:0], x[:0], row),
    "half": lambda: torch.special.erfcx(x.half().float()),
    "number": lambda: torch.special.erfcx(torch.tensor(2.0)),
    "out": lambda: torch.special.erfcx(x, out=torch.empty(0)),
    "whole": lambda: torch.special.erfcx(whole),
    "norm": lambda: torch.ops.aten.norm.ScalarOpt_dim(x, 3, [1]),
    "across": lambda: torch.ops.aten.norm.ScalarOpt_dim(x.t(), 1, [1]),
    "sums": lambda: torch.cumsum(x.t(), 1), "counted": lambda: torch.cumsum(whole, 0),
    "none": lambda: torch.cumsum(x[:0], 1), "add": lambda: torch.index_add(
        x, 0, torch.tensor([3, 1, 3]), x[:3], alpha=2
    ),
    "gelu": lambda: torch.ops.aten._addmm_activation(row, x, x[:3], use_gelu=True, beta=2),
    "std": lambda: torch.std(x, [0], correction=1), "std of all": lambda: torch.std(x.t()),
}
before = {name: call() for name, call in calls.items()}
import opcheck_addcmul, opcheck_special_erfcx, opcheck_norm_scalaropt_dim
import opcheck_cumsum, opcheck_index_add, opcheck_addmm_activation, opcheck_std_correction
for name, call in calls.items():
    torch.testing.assert_close(
        call(), before[name], rtol=1e-5, atol=1e-5, msg=lambda text: f"{name}: {text}"
    )
wide = torch.special.erfcx(x.half().float()).half()
torch.testing.assert_close(torch.special.erfcx(x.half()), wide)
print("held")
"""
IN_TURNS = """
#include <type_traits>
#include <utility>
template <typename A>
A handed(void* at) {
  if constexpr (std::is_pointer_v<A>) return (A)at;
  else return *(std::remove_reference_t<A>*)at;
}
template <typename... A, size_t... I>
void called(void (*run)(A...), void** given, std::index_sequence<I...>) {
  run(handed<A>(given[I])...);
}
template <typename... A>
void called(void (*run)(A...), void** given) {
  called(run, given, std::index_sequence_for<A...>());
}
extern "C" void launch(void** given, int many, unsigned groups, unsigned count) {
  launched(groups, count, 0, nullptr, [&] {
    unsigned places[3] = {blockIdx.x, gridDim.x, threadIdx.x};
    for (int i = 0; i < 3; ++i) given[many + i] = &places[i];
    called(run, given);
  });
}
"""
"""Starts a kernel whose threads know where they are; those of a group wait for each other."""
NORM = """
  const long last = self_sizes[2], from = i * last;
  float sum = 0;
  for (long k = 0; k < last; ++k) sum += precise::pow(fabs(self_at[from + k]), float(p[1]));
  result0_at[i] = precise::pow(sum, 1.0f / float(p[1]));
"""
"""What a user writes, by what the kernel is handed: sizes, and a number that may be left out."""


@pytest.mark.slow
@needs_compiler
def test_metal_projects_run_on_the_cpu_in_the_devices_place(tmp_path: Path) -> None:
    own = ("aten::addcmul", "aten::special_erfcx", "aten::norm.ScalarOpt_dim")
    for op in (*own, *OF_FAMILIES):
        folder = written(tmp_path / "projects", made(CHAINS["metal"], op), finish=True)
        source = folder / folder.name / "kernel.metal"
        text = source.read_text(encoding="utf-8")
        left = next((line for line in text.splitlines() if "// <<<" in line), None)
        source.write_text(text.replace(left, NORM) if left else text, encoding="utf-8")
        kernel = folder / folder.name / "kernel.py"
        text = kernel.read_text(encoding="utf-8").replace('"MPS")', '"CPU")')
        kernel.write_text(text, encoding="utf-8")
        (folder / folder.name).rename(tmp_path / folder.name)
    (tmp_path / "run.py").write_text(METAL, encoding="utf-8")
    done = run(tmp_path, "run.py")
    assert done.stdout.strip() == "held", done.stderr[-3000:]


@pytest.mark.slow
def test_a_metal_kernel_is_registered_without_a_device(tmp_path: Path) -> None:
    folder = written(tmp_path, made(CHAINS["metal"], "aten::sigmoid"))
    code = (
        f"import torch, {folder.name};"
        "print(torch._C._dispatch_has_kernel_for_dispatch_key('aten::sigmoid', 'MPS'))"
    )
    done = run(folder, "-c", code)
    assert done.stdout.strip() == "True", done.stderr[-3000:]


GRADIENT = """
import torch
x, weight, bias = (torch.randn(4, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64),
                   torch.randn(5, dtype=torch.float64))

def slopes():
    given = [t.clone().requires_grad_() for t in (x, weight, bias)]
    return torch.autograd.grad((torch.ops.aten.linear(*given) ** 2).sum(), given)

wanted, value = slopes(), torch.ops.aten.linear(x, weight, bias)
calls = []
def kernel(input, weight, bias=None):
    calls.append(1)
    return input.mul(1).matmul(weight.t()).add(bias)
library = torch.library.Library("aten", "IMPL")
library.impl("linear", kernel, "CPU")
import gradient
torch.testing.assert_close(slopes(), wanted)
assert len(calls) == 1, calls
torch.testing.assert_close(torch.ops.aten.linear(x, weight, bias), value)
assert len(calls) == 2, calls
print("held")
"""


ATTENDED = """
import torch
q = torch.randn(2, 4, 3, 4, dtype=torch.float64)
k, v = torch.randn(2, 2, 2, 5, 4, dtype=torch.float64)
attend = torch.nn.functional.scaled_dot_product_attention
ways = ({"attn_mask": torch.randn(3, 5) > -1}, {"is_causal": True, "scale": 0.3}, {})

def slopes(way):
    given = [t.clone().requires_grad_() for t in (q, k, v)]
    return torch.autograd.grad((attend(*given, enable_gqa=True, **way) ** 2).sum(), given)

def plain(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
          enable_gqa=False):
    calls.append(1)
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key.repeat_interleave(2, 1), value.repeat_interleave(2, 1), dropout_p, is_causal,
        attn_mask=None if attn_mask is None else torch.zeros(3, 5, dtype=q.dtype).masked_fill(
            ~attn_mask, float("-inf")), scale=scale,
    )[0]

wanted, calls = [slopes(way) for way in ways], []
library = torch.library.Library("aten", "IMPL")
library.impl("scaled_dot_product_attention", plain, "CPU")
import gradient
for way, one in zip(ways, wanted):
    torch.testing.assert_close(slopes(way), one)
assert len(calls) == len(ways), calls
print("held")
"""


@pytest.mark.slow
def test_attention_has_the_gradient_of_its_reference(tmp_path: Path) -> None:
    project = made(CHAINS["cuda"], "aten::scaled_dot_product_attention")
    text = project.files[f"{project.name}/gradient.py"].replace("AutogradCUDA", "AutogradCPU")
    assert "decompose" not in text
    (tmp_path / "gradient.py").write_text(text, encoding="utf-8")
    (tmp_path / "run.py").write_text(ATTENDED, encoding="utf-8")
    done = run(tmp_path, "run.py")
    assert done.stdout.strip() == "held", done.stderr[-3000:]


@pytest.mark.slow
def test_a_composite_overload_has_the_gradient_of_what_it_is_made_of(tmp_path: Path) -> None:
    project = made(CHAINS["cuda"], "aten::linear")
    text = project.files[f"{project.name}/gradient.py"].replace("AutogradCUDA", "AutogradCPU")
    (tmp_path / "gradient.py").write_text(text, encoding="utf-8")
    (tmp_path / "run.py").write_text(GRADIENT, encoding="utf-8")
    assert "import gradient" in project.files[f"{project.name}/__init__.py"]
    assert "autogradNotImplementedFallback()" in project.files["csrc/binding.cpp"]  # of out=
    done = run(tmp_path, "run.py")
    assert done.stdout.strip() == "held", done.stderr[-3000:]
