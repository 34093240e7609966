"""HIP, for GPUs that present themselves as CUDA devices: AMD's and Hygon's."""

from collections.abc import Mapping
from typing import ClassVar

from opcheck.rewrite.custom.base import pytorch
from opcheck.rewrite.custom.gpu import GpuToolchain


class Hip(GpuToolchain):
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
    checked = (
        "the kernel compiles with a host compiler against a stand-in for HIP's header, and what "
        "it computes is held against the CPU's; hipcc has not seen it"
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
