"""Switches of cuDNN and of CUDA's back ends."""

from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict

_MODULES = ("torch.backends.cudnn", "torch.backends.cuda", "torch.backends.cusparselt")


class CudaBackends(Check):
    """``torch.backends.cudnn.benchmark = True``, ``torch.backends.cuda.matmul.allow_tf32``."""

    name = "cuda-backends"
    topic = "module"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every use of them."""
        for node, meant in source.dotted():
            if any(f"{meant}.".startswith(f"{module}.") for module in _MODULES):
                yield Sighting(source.span(node), meant, "", source.guard(node))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """They are there in every torch, and switch nothing on another device."""
        words = ground.porting
        told = words.unsupported.get(seen.written)
        if told is not None:
            return Judgement(
                Verdict.NATIVE, told.text, told.use, caution=True, evidence=told.evidence
            )
        if words.answers_cuda:
            return ground.answered
        return Judgement(Verdict.NATIVE, f"switches nothing on {words.device}", caution=True)
