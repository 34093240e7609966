"""Headers of CUDA's libraries."""

import re
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.kernel_source import KernelSource
from opcheck.model.verdict import Confidence, Verdict

_HEADER = re.compile(
    r"(?:cuda(?:_runtime(?:_api)?|_fp(?:16|8|6|4)|_bf16|_pipeline(?:_primitives)?|_profiler_api|"
    r"Profiler|_awbarrier|_device_runtime_api|GL|_gl_interop)?|cudnn(?:_\w+)?|"
    r"cublas(?:_v2|_api|Lt|Xt)?|cusparse(?:_v2|Lt)?|cusolver(?:Dn|Sp|Mg|_common)?|cufft(?:Xt|w)?|"
    r"curand(?:_kernel)?|nccl|mma|nvrtc|nvml|cooperative_groups|device_launch_parameters|"
    r"nvToolsExt)\.(?:h|cuh)"
    r"|(?:cuda|cub|thrust|cutlass|cute|cooperative_groups|nvtx3)/.+"
    r"|(?:ATen|c10|torch/csrc)/cuda/.+|ATen/native/cuda/.+"
)
_NVIDIA_ALONE = re.compile(r"cutlass/|cute/|mma\.h|nvtx3/|nvToolsExt|cuda/")
"""What is not turned into HIP by name."""


class CudaLibrary(Check):
    """``#include <cuda_runtime.h>``, ``<cub/cub.cuh>``, ``"cutlass/gemm/device/gemm.h"``."""

    name = "cuda-library"
    topic = "extension"

    def in_kernels(self, source: KernelSource) -> Iterator[Sighting]:
        """Every such header that is included."""
        for match in source.includes():
            if _HEADER.fullmatch(match[1]):
                yield Sighting(source.span_of(match.start(1), match.end(1)), match[1])

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """They come with CUDA; ROCm has most of them by other names."""
        words = ground.porting
        if words.hip and _NVIDIA_ALONE.match(seen.written):
            text = "is NVIDIA's, and is not among what is turned into HIP by name"
            return Judgement(Verdict.UNKNOWN, text, "", Confidence.LOW)
        if words.hip:
            text = "is turned into HIP's as the extension is built"
            return Judgement(
                Verdict.NATIVE, text, "", Confidence.MEDIUM, caution=True,
                evidence=words.known_by("extension"),
            )  # fmt: skip
        if words.answers_cuda:
            return ground.answered
        return ground.raises("is a header of CUDA's, which is not there")
