"""Assembly for NVIDIA's devices inside kernels."""

import re
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.kernel_source import KernelSource
from opcheck.model.verdict import Verdict

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
