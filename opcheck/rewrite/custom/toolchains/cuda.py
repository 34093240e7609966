"""CUDA, for NVIDIA's GPUs."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.rewrite.custom.base import pytorch
from opcheck.rewrite.custom.gpu import GpuToolchain


class Cuda(GpuToolchain):
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
    checked = "the kernel compiles with nvcc, and what it computes is held against the CPU's"
    needs = "a torch with CUDA, and the CUDA toolkit of the same version (nvcc)"
    build = ("pip install --no-build-isolation -e .",)
    left = "csrc/kernel.cu"
    evidence = (pytorch("torch/utils/cpp_extension.py"),)
    runtime = "cuda"
    header = "cuda_runtime.h"
    stream_header = "c10/cuda/CUDAStream.h"
    stream = "c10::cuda::getCurrentCUDAStream().stream()"
