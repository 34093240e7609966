"""Kernels in CUDA C++, and where they are launched."""

import re
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.kernel_source import KernelSource
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
