"""Extensions that are built with CUDA's toolkit."""

import ast
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

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
