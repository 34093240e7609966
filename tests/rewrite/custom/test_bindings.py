"""Projects that run: their own tests, and bindings built and run on the CPU."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

from opcheck.rewrite.custom.families.interface import interface, operands
from tests.preloaded import python
from tests.rewrite.custom.made import CALLS, CHAINS, STUBS, made, written
from tests.rewrite.custom.samples import FAMILIES
from tests.rewrite.custom.test_expressions import signature_of
from tests.rewrite.custom.test_kernels import COMPILER, TILE, needs_compiler, on_host, with_tiling
from tests.rewrite.custom.vectors import TILE as FAMILY_TILE


def run(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*python("torch"), *arguments], capture_output=True, text=True, check=False, cwd=folder,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("op", ["aten::special_erfcx", "aten::mode", "aten::nll_loss_forward"])
def test_its_own_test_runs_and_says_what_it_skips(op: str, tmp_path: Path) -> None:
    folder = written(tmp_path, made(CHAINS["bang-c"], op))
    plugins = ("cacheprovider", "opcheck", "hypothesispytest", "anyio")
    without = [option for plugin in plugins for option in ("-p", f"no:{plugin}")]
    told = run(folder, "-m", "pytest", "-q", "-rs", *without)
    assert "1 passed" in told
    assert "no mlu with this kernel here: No module named 'torch_mlu'" in told


INCLUDE = Path(torch.__file__).parent / "include"
HEADERS = [f"-I{INCLUDE}", f"-I{INCLUDE / 'torch/csrc/api/include'}"]
LIBRARIES = INCLUDE.parent / "lib"
ABI = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
WITHOUT_TORCH = [str(COMPILER), "-std=c++20", "-w", ABI, "-fPIC", f"-I{STUBS}"]
BODIES = {
    "aten::mode": """
  const int64_t last = given.self.sizes[1];
  int64_t least = 0;
  for (int64_t i = 1; i < last; ++i) {
    const T mine = at<T>(given.self, index * last + i);
    least = mine < at<T>(given.self, index * last + least) ? i : least;
  }
  at<T>(given.result0, index) = at<T>(given.self, index * last + least);
  at<int64_t>(given.result1, index) = least;
""",
    "aten::norm.ScalarOpt_dim": """
  const int64_t last = given.self.sizes[1];
  double sum = 0;
  for (int64_t i = 0; i < last; ++i) {
    sum += pow(fabs(double(at<T>(given.self, index * last + i))), given.p.value);
  }
  at<T>(given.result0, index) = T(pow(sum, 1 / given.p.value));
""",
}
"""What a user writes: one line of a matrix, of which no two numbers are the same."""
OF_LOOPS = ("aten::kthvalue", "aten::max_pool2d_with_indices", "aten::conv2d",
            "aten::upsample_bilinear2d", "aten::scaled_dot_product_attention")  # fmt: skip
HEADS = """\
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>
#include <algorithm>
#include <tuple>
"""
"""What a binding includes, before it is put into a namespace."""


@pytest.fixture(scope="module")
def torch_first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[str]]:
    """What has a compiler begin with PyTorch's headers, which it has read once for all tests."""
    header = tmp_path_factory.mktemp("heads") / "heads.h"
    header.write_text(HEADS, encoding="utf-8")
    read = header.with_name("heads.h.gch")
    compiler = [*WITHOUT_TORCH, *HEADERS]
    subprocess.run([*compiler, "-x", "c++-header", str(header), "-o", str(read)], check=True)
    yield [*compiler, "-include", str(header)]
    read.unlink()  # it takes hundreds of megabytes


HELD = """
import torch
x = torch.randn(4, 3)
half, row, far = x.half().t(), torch.randn(3), x * 20
images = torch.randn(3, 6, 5, 4)
attend = torch.nn.functional.scaled_dot_product_attention
def slope(x):
    return torch.autograd.grad(torch.special.erfcx(x.requires_grad_()).sum(), x)[0]
calls = {
    "erfcx": lambda: torch.special.erfcx(x), "far": lambda: torch.special.erfcx(far.abs()),
    "whole": lambda: torch.special.erfcx(torch.arange(5)),
    "out": lambda: torch.special.erfcx(x, out=torch.empty(0)),
    "empty": lambda: torch.special.erfcx(x[:0]),
    "number": lambda: torch.lerp(x, row, 0.25), "place": lambda: x.clone().lerp_(row, 0.75),
    "scalar": lambda: torch.special.erfcx(torch.tensor(2.0)),
    "sign": lambda: torch.sign(torch.tensor([3, 0, -2])),
    "kth": lambda: torch.kthvalue(x, 2, 1), "double": lambda: torch.kthvalue(x.double(), 1, 1),
    "mode": lambda: torch.mode(x, 1), "largest": lambda: torch.ops.aten.max_pool2d_with_indices(
        images.half(), [3], [2], [1], [1], True
    ), "convolved": lambda: torch.conv2d(images, images[:, :2], None, 2, 1, 1, 3),
    "with bias": lambda: torch.conv2d(images.double(), images[:1].double(), row[:1].double()),
    "larger": lambda: torch.ops.aten.upsample_bilinear2d(images, [9, 4], False),
    "scaled": lambda: torch.ops.aten.upsample_bilinear2d(images, [10, 6], False, 2.0, 1.5),
    "bag": lambda: torch.ops.aten._embedding_bag(
        x, torch.tensor([3, 0, 1]), torch.tensor([0, 2]), False, 1, padding_idx=1
    )[0], "weighted": lambda: torch.ops.aten._embedding_bag(
        x, torch.tensor([3, 0, 1]), torch.tensor([0, 3]), per_sample_weights=row,
        include_last_offset=True,
    )[0],
    "attention": lambda: attend(images, images, images, is_causal=True),
    "masked": lambda: attend(images, images, images, images[..., :1] > 0, scale=2.0),
    "shared": lambda: attend(images[:1], images[:1, :3], images[:1, :3], enable_gqa=True),
    "norm": lambda: torch.ops.aten.norm.ScalarOpt_dim(x, 3, [1]),
    "std": lambda: torch.std(x, [1], correction=1),
    "std of all": lambda: torch.std(x.t()), "kept": lambda: torch.std(x, [0], keepdim=True),
    "cumsum": lambda: torch.cumsum(x.t(), 0), "counted": lambda: torch.cumsum(torch.arange(5), 0),
    "add": lambda: torch.index_add(x, 0, torch.tensor([3, 1, 3]), x[:3], alpha=2),
    "across": lambda: torch.index_add(x.t(), -1, torch.tensor([3, 1, 3]), x[:3].t()),
    "into nothing": lambda: torch.index_add(x[:0], 0, torch.tensor([3, 1, 3]), x[:3]),
    "gelu": lambda: torch.ops.aten._addmm_activation(row, x, x[:3], use_gelu=True, beta=2),
    "gradient": lambda: slope(x.clone()),
}
wide = torch.special.erfcx(half.float())
before = {name: call() for name, call in calls.items()}
torch.ops.load_library("all.so")
for name, call in calls.items():
    torch.testing.assert_close(call(), before[name], rtol=1e-5, atol=1e-6)
torch.testing.assert_close(torch.special.erfcx(half), wide.half())
try:
    torch.special.erfcx(x.cfloat())
except RuntimeError:
    print("held")
"""


@pytest.mark.slow
@needs_compiler
def test_the_binding_runs_on_the_cpu_in_the_devices_place(
    torch_first: Sequence[str], tmp_path: Path
) -> None:
    kernels, headers, bindings = list[str](), list[str](), list[str]()
    ops = ["aten::special_erfcx", "aten::lerp.Scalar", "aten::sign", *BODIES, *OF_FAMILIES]
    for number, op in enumerate([*ops, *OF_LOOPS, "aten::_embedding_bag"]):
        folder = written(tmp_path, made(CHAINS["cuda"], op), finish=True)
        kernel, binding = folder / "csrc" / "kernel.cu", folder / "csrc" / "binding.cpp"
        text = on_host(kernel.read_text(encoding="utf-8"))
        text = text.replace("  (void)given;", BODIES.get(op, "") + "  (void)given;")
        kernel.write_text(text, encoding="utf-8")
        text = binding.read_text(encoding="utf-8").replace(", CUDA, m)", ", CPU, m)")
        binding.write_text(text, encoding="utf-8")
        kernels.append(f'#include "{kernel}"')
        headers.append(f'#include "{kernel.with_name("kernel.h")}"')
        bindings.append(f'namespace in_{number} {{\n#include "{binding}"\n}}')
    headers.append("#include <c10/cuda/CUDAStream.h>")
    build(torch_first, tmp_path, [*headers, *bindings], kernels)
    (tmp_path / "held.py").write_text(HELD, encoding="utf-8")
    assert run(tmp_path, "held.py").strip() == "held"


def build(
    torch_first: Sequence[str], folder: Path, bindings: Sequence[str], kernels: Sequence[str]
) -> None:
    """A library of bindings, which PyTorch's headers come before, and of kernels without those."""
    library = ["-shared", "-o", str(folder / "all.so"), f"-L{LIBRARIES}", "-lc10", "-ltorch_cpu"]
    require_compiled([*torch_first, "-c"], folder / "bindings.cpp", bindings)
    require_compiled([*WITHOUT_TORCH, "-c"], folder / "kernels.cpp", kernels)
    end = f"-Wl,-rpath,{LIBRARIES}"
    objects = [str(folder / "bindings.o"), str(folder / "kernels.o")]
    subprocess.run([*WITHOUT_TORCH, *objects, *library, end], check=True, cwd=folder)


def require_compiled(compiler: Sequence[str], source: Path, lines: Sequence[str]) -> None:
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [*compiler, str(source)], capture_output=True, text=True, check=False, cwd=source.parent
    )
    assert done.returncode == 0, done.stderr[-4000:]


OF_FAMILIES = ("aten::std.correction", "aten::cumsum", "aten::index_add", "aten::_addmm_activation")
OF_VECTORS = """
import torch
x, row = torch.randn(4, 3), torch.randn(3, requires_grad=True)
many, wide = torch.randn(3, 5000), torch.randn(5000, 3)
images = torch.randn(3, 6, 5, 4)
attend = torch.nn.functional.scaled_dot_product_attention
calls = {
    "attention": lambda: attend(images, images, images, is_causal=True),
    "masked": lambda: attend(images, images, images, images[..., :1] > 0, scale=2.0),
    "short": lambda: torch.special.erfcx(x), "long": lambda: torch.special.erfcx(many),
    "whole tiles": lambda: torch.special.erfcx(many.flatten()[:4096]),
    "far": lambda: torch.special.erfcx(20 * many.abs()),
    "strided": lambda: torch.special.erfcx(wide.t()[:, ::2]),
    "integers": lambda: torch.special.erfcx(torch.arange(5)),
    "out": lambda: torch.special.erfcx(x, out=torch.empty(0)),
    "into strides": lambda: torch.special.erfcx(x, out=torch.empty(3, 4).t()),
    "empty": lambda: torch.special.erfcx(x[:0]),
    "number": lambda: torch.special.erfcx(torch.tensor(2.0)),
    "broadcast": lambda: torch.lerp(wide, row, 0.25),
    "place": lambda: many.clone().lerp_(many.flip(1), 0.75),
    "sign": lambda: torch.sign(torch.tensor([3, 0, -2])),
    "std": lambda: torch.std(many, [1], correction=1), "std of all": lambda: torch.std(x.t()),
    "kept": lambda: torch.std(wide, [0], keepdim=True), "nothing": lambda: torch.std(x[:0], [1]),
    "cumsum": lambda: torch.cumsum(wide.t(), 0), "of half": lambda: torch.cumsum(x.half(), 1),
    "add": lambda: torch.index_add(x, 0, torch.tensor([3, 1, 3]), x[:3], alpha=2),
    "across": lambda: torch.index_add(x.t(), -1, torch.tensor([3, 1, 3]), x[:3].t()),
    "along": lambda: torch.index_add(many, 0, torch.tensor([2, 0]), many[:2] * 2),
    "embedding": lambda: torch.embedding(wide, torch.tensor([[4000, 3], [3, 0]])),
    "gelu": lambda: torch.ops.aten._addmm_activation(x[0], x, x[:3], use_gelu=True, beta=2),
    "relu": lambda: torch.ops.aten._addmm_activation(x[0], wide, x[:3], use_gelu=False),
    "largest": lambda: torch.ops.aten.max_pool2d_with_indices(images, [3], [2], [1], [1], True),
    "convolved": lambda: torch.conv2d(images, images[:, :2], images[0, :3, 0, 0], 2, 1, 1, 3),
    "without bias": lambda: torch.conv2d(images, images[:1]),
    "larger": lambda: torch.ops.aten.upsample_bilinear2d(images, [9, 4], False),
    "scaled": lambda: torch.ops.aten.upsample_bilinear2d(images, [10, 6], False, 2.0, 1.5),
    "gradient": lambda: torch.autograd.grad(torch.lerp(x, row, 0.25).sum(), row)[0],
}
half = many.half().t()
single = torch.special.erfcx(half.float())
before = {name: call() for name, call in calls.items()}
torch.ops.load_library("all.so")
for name, call in calls.items():
    torch.testing.assert_close(
        call(), before[name], rtol=5e-5, atol=1e-5, msg=lambda text: f"{name}: {text}"
    )
torch.testing.assert_close(torch.special.erfcx(half), single.half())
for refused in (x.double(), x.cfloat()):
    try:
        torch.special.erfcx(refused)
    except RuntimeError as error:
        print(str(error).splitlines()[0])
outside = torch.tensor([5000])
for refused in (lambda: torch.cumsum(outside, 0), lambda: torch.embedding(wide, outside)):
    try:
        refused()
    except (IndexError, RuntimeError) as error:
        print(str(error).splitlines()[0])
"""
REFUSED = """\
aten::special_erfcx: the kernel does not compute in float64
aten::special_erfcx: the kernel computes no complex numbers
aten::cumsum: the kernel computes no integers that float32 cannot hold
aten::embedding: index 5000 is outside of 5000 places
"""


def aclnn(folder: Path, op: str) -> str:
    """The function that CANN makes of an operator: here its kernel, on three cores."""
    s = signature_of(op)
    operator = "".join(part.capitalize() for part in folder.name.split("_"))
    parameters = [*(f"const at::Tensor& {a.name}" for a in s.tensors)]
    parameters += [*(f"double {a.name}" for a in s.values), "at::Tensor& made"]
    places = [f"(uint8_t*){name}.data_ptr()" for name in (*(a.name for a in s.tensors), "made")]
    numbers = "".join(f"data.set_{a.name}({a.name});" for a in s.values)
    return f"""\
{with_tiling(folder)}
namespace of_{folder.name} {{
#include "{folder}/op/op_kernel/{folder.name}.cpp"
}}
void run_aclnn{operator}({", ".join(parameters)}) {{
  TORCH_CHECK(made.numel() % {TILE} == 0, "no whole tiles");
  optiling::{operator}TilingData data;
  data.set_tiles(made.numel() / {TILE});
  {numbers}
  AscendC::blocks = 3;
  for (AscendC::block = 0; AscendC::block < AscendC::blocks; ++AscendC::block) {{
    of_{folder.name}::{folder.name}({", ".join(places)}, nullptr, (uint8_t*)&data);
  }}
}}
"""


UNITS = {
    "scan": "places / TILE", "reduction": "places / TILE", "gather": "outer * count",
    "scatter": "outer * ((inner + TILE - 1) / TILE)",
    "product": "batch * ((rows + 7) / 8) * (columns / TILE)",
    "loops": "(places + TILE - 1) / TILE",
}  # fmt: skip
"""What the host's side of Ascend divides among cores."""


def aclnn_of_family(folder: Path, op: str) -> str:
    """The same for an operator of a family."""
    s, found = signature_of(op), FAMILIES[op]
    k = interface(found, s)
    tensors = [a.name for a in operands(found, s)]
    made = [a.name for a in k.results]
    parameters = [f"const at::Tensor& {name}" for name in tensors]
    parameters += [f"int64_t {name}" for name in k.sizes] + [f"double {name}" for name in k.values]
    parameters += [f"at::Tensor& {name}" for name in made]
    operator = "".join(part.capitalize() for part in folder.name.split("_"))
    fields = "".join(f"data.set_{name}({name});" for name in (*k.sizes, *k.values))
    places = ", ".join(f"(uint8_t*){name}.data_ptr()" for name in (*tensors, *made))
    return f"""\
{with_tiling(folder)}
namespace of_{folder.name} {{
#include "{folder}/op/op_kernel/{folder.name}.cpp"
}}
void run_aclnn{operator}({", ".join(parameters)}) {{
  constexpr int64_t TILE = {FAMILY_TILE};
  optiling::{operator}TilingData data;
  data.set_units({UNITS[found.kind]});
  {fields}
  AscendC::blocks = 3;
  for (AscendC::block = 0; AscendC::block < AscendC::blocks; ++AscendC::block) {{
    of_{folder.name}::{folder.name}({places}, nullptr, (uint8_t*)&data);
  }}
}}
"""


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", ["ascend-c", "bang-c"])
def test_a_vector_project_runs_on_the_cpu_in_the_devices_place(
    name: str, torch_first: Sequence[str], tmp_path: Path
) -> None:
    first = ["#define EXEC_NPU_CMD_EXT(name, ...) run_##name(__VA_ARGS__)"]
    kernels, lines = list[str](), list[str]()
    ops = ["aten::special_erfcx", "aten::lerp.Scalar", "aten::sign", *OF_FAMILIES]
    for number, op in enumerate([*ops, "aten::embedding", *OF_LOOPS[1:]]):
        folder = written(tmp_path, made(CHAINS[name], op))
        if name == "bang-c":
            kernel = folder / "csrc" / "kernel.mlu"
            kernel.write_text(on_host(kernel.read_text(encoding="utf-8")), encoding="utf-8")
            kernels.append(f'#include "{kernel}"')
            first.append(f'#include "{kernel.with_name("kernel.h")}"')
        else:
            lines.append((aclnn_of_family if op in FAMILIES else aclnn)(folder, op))
        binding = folder / "csrc" / "binding.cpp"
        text = binding.read_text(encoding="utf-8").replace(", PrivateUse1, m)", ", CPU, m)")
        binding.write_text(text, encoding="utf-8")
        lines.append(f'namespace in_{number} {{\n#include "{binding}"\n}}')
    header = getattr(CHAINS[name], "stream_header")  # noqa: B009  # of those with a binding
    included = [f'#include "{header}"']
    if name == "ascend-c":
        included.append("#include <kernel_operator.h>")
    build(torch_first, tmp_path, [*first, *included, *lines], kernels)
    (tmp_path / "held.py").write_text(OF_VECTORS, encoding="utf-8")
    assert run(tmp_path, "held.py") == REFUSED


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", ["ascend-c", "bang-c", "hip", "musa-c"])
def test_bindings_are_read_by_a_compiler(
    name: str, torch_first: Sequence[str], tmp_path: Path
) -> None:
    header = getattr(CHAINS[name], "stream_header")  # noqa: B009  # of those with a binding
    headers, bindings = list[str](), [f'#include "{header}"']
    for number, op in enumerate(CALLS):
        folder = written(tmp_path, made(CHAINS[name], op))
        if (folder / "csrc" / "kernel.h").exists():
            headers.append(f'#include "{folder}/csrc/kernel.h"')
        bindings.append(f'namespace in_{number} {{\n#include "{folder}/csrc/binding.cpp"\n}}')
    require_compiled([*WITHOUT_TORCH, "-fsyntax-only"], tmp_path / "headers.cpp", headers)
    syntax = [*torch_first, "-fsyntax-only"]
    require_compiled(syntax, tmp_path / "bindings.cpp", [*headers, *bindings])


@pytest.mark.slow
@needs_compiler
def test_build_scripts_are_shell(tmp_path: Path) -> None:
    folder = written(tmp_path, made(CHAINS["ascend-c"], "aten::std.correction"))
    shell = shutil.which("bash")
    if not shell:
        pytest.skip("no bash here")
    subprocess.run([shell, "-n", str(folder / "build.sh")], check=True)
