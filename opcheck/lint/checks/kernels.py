"""Kernels in CUDA C++, in PTX and in Triton, CUDA's library headers and extension builds."""

import ast
import re
from collections.abc import Iterator

from opcheck.kernel_code.compare import judge
from opcheck.kernel_code.triton_names import decorator_of, functions, imported
from opcheck.kernel_code.triton_reader import kernels_in
from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.lint.sources import KernelSource
from opcheck.model.launches import Launch
from opcheck.model.verdict import Confidence, Verdict

_KERNEL = re.compile(
    r"\b__global__\b"
    r"(?:(?:__launch_bounds__\s*\([^()]{0,200}\)|[^;{}()]){0,300}?\b(?P<name>(?!__)\w{1,99})\s*\()?"
)
_LAUNCH = re.compile("<<<")
_LAUNCHED = re.compile(r"(\w+)\s*(?:<[^<>;{}]*>)?\s*$")
_BEFORE = 200
"""Characters before a launch in which its kernel is looked for."""


class CudaKernel(Check):
    """``__global__ void kernel(...)``, ``kernel<<<grid, block>>>(...)``."""

    name = "cuda-kernel"
    topic = "extension"

    def in_kernels(self, source: KernelSource) -> Iterator[Sighting]:
        """Every kernel and every launch."""
        for match in source.find(_KERNEL):
            end = match.start() + len("__global__")
            written = f"__global__ {match['name'] or ''}".strip()
            yield Sighting(source.span_of(match.start(), end), written)
        for match in source.find(_LAUNCH):
            before = source.code[max(match.start() - _BEFORE, 0) : match.start()]
            name = _LAUNCHED.search(before)
            written = f"{name[1] if name else ''}<<<>>>"
            yield Sighting(source.span_of(match.start(), match.end()), written)

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Only nvcc compiles them, and HIP's compiler once they are turned into HIP."""
        words = ground.porting
        if words.hip:
            text = "is turned into HIP as the extension is built"
            return Judgement(
                Verdict.NATIVE, text, "", Confidence.MEDIUM, caution=True,
                evidence=words.known_by("extension"),
            )  # fmt: skip
        if words.answers_cuda:
            return ground.answered
        return ground.raises("needs nvcc, which builds for NVIDIA's devices alone")


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


_ASM = re.compile(r"\b(?:asm|__asm__)\b(?:\s+(?:volatile|__volatile__))?\s*\(")


class PtxAssembly(Check):
    """``asm volatile("mma.sync ...")`` in a kernel."""

    name = "ptx-assembly"
    topic = "extension"

    def in_kernels(self, source: KernelSource) -> Iterator[Sighting]:
        """Every piece of assembly in a source for CUDA's compiler; elsewhere it is the host's."""
        if not source.is_cuda:
            return
        for match in source.find(_ASM):
            end = match.end() - 1
            yield Sighting(source.span_of(match.start(), end), "asm")

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """No other device runs PTX, ROCm's included."""
        words = ground.porting
        if words.answers_cuda and not words.hip:
            return ground.answered
        return Judgement(Verdict.UNSUPPORTED, "is PTX, which only NVIDIA's devices run")


_HERE = "the source that is read"
"""What stands for the file of a kernel: a sighting knows its own place."""


class TritonKernel(Check):
    """A function under ``@triton.jit``, with what it calls of ``triton.language``."""

    name = "triton-kernel"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such function."""
        names = imported(source.tree)
        read = kernels_in(source.tree, _HERE)
        for function in functions(source.tree, names):
            decorator = decorator_of(function, names)
            if decorator is not None:
                written = f"@triton.jit {function.name}"
                yield Sighting(source.span(decorator), written, kernel=read[function.name])

    def judge(self, seen: Sighting, ground: Ground) -> Judgement | None:
        """What the target's Triton has of it, whatever tensors it is launched with."""
        if seen.kernel is None:
            return None
        found = judge(Launch(seen.kernel, ""), ground.triton, ground.porting.vendor, ground.chip)
        return Judgement(
            found.verdict, found.text, "", found.confidence, evidence=found.evidence
        )  # fmt: skip


_MODULE = "torch.utils.cpp_extension"
_BUILDS = f"{_MODULE}.CUDAExtension"
_HOME = f"{_MODULE}.CUDA_HOME"
_LOADS = (f"{_MODULE}.load", f"{_MODULE}.load_inline")


class CudaExtension(Check):
    """``CUDAExtension(...)``, ``load(sources=["kernel.cu"])``, ``CUDA_HOME``."""

    name = "cuda-extension"
    topic = "extension"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such extension, and every question where the toolkit is."""
        for node, meant in source.dotted():
            call = source.parent(node)
            if meant in (_BUILDS, _HOME) or (
                meant in _LOADS and isinstance(call, ast.Call) and _has_kernels(call)
            ):
                yield Sighting(source.span(node), meant, "", source.guard(node))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Only CUDA's toolkit builds them, and ROCm's, which turns them into HIP first."""
        words = ground.porting
        if words.hip:
            text = "its sources are turned into HIP as they are built, where they can be"
            return Judgement(
                Verdict.NATIVE, text, caution=True, confidence=Confidence.MEDIUM,
                evidence=words.known_by("extension"),
            )  # fmt: skip
        if words.answers_cuda:
            return ground.answered
        if seen.written == _HOME:
            return Judgement(Verdict.NATIVE, "is None there", caution=True)
        return ground.raises(
            "needs nvcc, which builds for NVIDIA's devices alone", words.extension, None,
            "extension",
        )  # fmt: skip


def _has_kernels(call: ast.Call) -> bool:
    """Whether a call names sources for CUDA's compiler."""
    if any(keyword.arg in ("cuda_sources", "with_cuda") for keyword in call.keywords):
        return True
    return any(
        isinstance(node, ast.Constant) and str(node.value).endswith((".cu", ".cuh"))
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for node in ast.walk(argument)
    )
