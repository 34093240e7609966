"""CUDA, HIP and MUSA C, which share one kernel text, for one number at a time."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.custom.base import Body, Toolchain, by_number, pytorch
from opcheck.rewrite.custom.expressions import FUNCTIONS
from opcheck.rewrite.custom.nests import Language
from opcheck.rewrite.custom.nests_c import PLAIN, InC
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import Dialect

LANGUAGE = Dialect(
    functions={name: {"abs": "fabs"}.get(name, name) for name in FUNCTIONS},
    where="({0} ? {1} : {2})",
    number="T({0!r})",
    inf="T(INFINITY)",
    nan="T(NAN)",
    assignment="const T {0} = {1};",
    assignment_of_any="const auto {0} = {1};",
    joint={"&": "&&", "|": "||"},
    condition="T({0})",
)
"""C++ with ``T`` for the type of a number."""
NEST = InC(Language(PLAIN, "{0}[{1}]"))


class _GpuToolchain(Toolchain):
    """Kernels for one place of the result a thread."""

    language: Dialect = LANGUAGE

    def body(self, signature: Signature, chip: str = "") -> Body:
        """Translate the expression, where there is one."""
        return by_number(signature, self.language, NEST.lines, self.title)


class Cuda(_GpuToolchain):
    """A kernel in CUDA C++, built with nvcc by PyTorch's own extension builder."""

    name = "cuda"
    title = "CUDA"
    vendors = ("nvidia",)
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "gpu/setup.py.j2",
        "csrc/kernel.h": "gpu/kernel.h.j2",
        "csrc/kernel.cu": "gpu/kernel.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    families: ClassVar[Mapping[str, str]] = {
        "csrc/kernel.h": "gpu/family.h.j2",
        "csrc/kernel.cu": "gpu/{kind}.j2",
    }
    checked = "the kernel compiles with nvcc, and what it computes is compared with the CPU's"
    needs = "a torch with CUDA, and the CUDA toolkit of the same version (nvcc)"
    build = ("pip install --no-build-isolation -e .",)
    left = "csrc/kernel.cu"
    evidence = (pytorch("torch/utils/cpp_extension.py"),)
    runtime = "cuda"
    header = "cuda_runtime.h"
    stream_header = "c10/cuda/CUDAStream.h"
    stream = "c10::cuda::getCurrentCUDAStream().stream()"


class Hip(_GpuToolchain):
    """A kernel in HIP, built with hipcc by PyTorch's own extension builder.

    The binding is written as for CUDA: that builder puts the HIP names into it.
    """

    name = "hip"
    title = "HIP"
    vendors = ("amd", "hygon")
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "gpu/setup.py.j2",
        "csrc/kernel.h": "gpu/kernel.h.j2",
        "csrc/kernel.hip": "gpu/kernel.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    families: ClassVar[Mapping[str, str]] = {
        "csrc/kernel.h": "gpu/family.h.j2",
        "csrc/kernel.hip": "gpu/{kind}.j2",
    }
    checked = (
        "the kernel compiles with hipcc (of ROCm 5.2, for gfx90a), where that is installed, and "
        "with a host compiler against a stand-in for HIP's header, and what it computes so is "
        "compared with the CPU's"
    )
    needs = "a torch with ROCm (Hygon: DTK), and its hipcc"
    build = ("pip install --no-build-isolation -e .",)
    left = "csrc/kernel.hip"
    evidence = (
        pytorch("torch/utils/cpp_extension.py"),
        pytorch("torch/utils/hipify/cuda_to_hip_mappings.py"),
    )
    runtime = "hip"
    header = "hip/hip_runtime.h"
    stream_header = "c10/cuda/CUDAStream.h"
    stream = "c10::cuda::getCurrentCUDAStream().stream()"


class MusaC(_GpuToolchain):
    """A kernel in MUSA C++, built with mcc by torch_musa's own extension builder."""

    name = "musa-c"
    title = "MUSA C"
    vendors = ("moorethreads",)
    files: ClassVar[Mapping[str, str]] = {
        "setup.py": "gpu/setup.py.j2",
        "csrc/kernel.h": "gpu/kernel.h.j2",
        "csrc/kernel.mu": "gpu/kernel.j2",
        "csrc/binding.cpp": "binding.cpp.j2",
    }
    families: ClassVar[Mapping[str, str]] = {
        "csrc/kernel.h": "gpu/family.h.j2",
        "csrc/kernel.mu": "gpu/{kind}.j2",
    }
    checked = (
        "the kernel compiles with a host compiler against a stand-in for MUSA's header, and what "
        "it computes is compared with the CPU's; mcc has not seen it"
    )
    plugin = "torch_musa"
    needs = "torch_musa, and the MUSA toolkit (mcc)"
    build = ("python setup.py develop",)
    left = "csrc/kernel.mu"
    evidence = (
        Evidence(
            Method.DOCUMENTED, "MooreThreads/torch_musa", "torch_musa/utils/README.md",
            commit="0bc05bff11712400fd53aa7dd8e68950a4c46647",
        ),
    )  # fmt: skip
    runtime = "musa"
    header = "musa_runtime.h"
    stream_header = "torch_musa/csrc/core/MUSAStream.h"
    stream = "c10::musa::getCurrentMUSAStream().stream()"
