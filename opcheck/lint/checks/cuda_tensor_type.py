"""The old tensor types of CUDA."""

import ast
import re
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource

_TYPE = re.compile(r"torch\.cuda\.(?:sparse\.)?[A-Z]\w*Tensor")


def is_tensor_type(name: str) -> bool:
    """Whether a dotted name is one of them: ``torch.cuda.FloatTensor``."""
    return _TYPE.fullmatch(name) is not None


class CudaTensorType(Check):
    """``torch.cuda.FloatTensor``, ``x.type("torch.cuda.HalfTensor")``."""

    name = "cuda-tensor-type"
    topic = "tensor-type"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such type, and every string that is the name of one."""
        for node, meant in source.dotted():
            if is_tensor_type(meant):
                yield Sighting(source.span(node), meant, "", source.guard(node))
        for string in source.nodes:
            if isinstance(string, ast.Constant) and is_tensor_type(str(string.value)):
                yield Sighting(source.span(string), str(string.value), "", source.guard(string))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Torch without CUDA has no such type."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        kind = seen.written.rpartition(".")[2].removesuffix("Tensor").lower()
        use = f'device="{words.device}", dtype=torch.{kind}'
        return ground.raises("raises: the type is not available there", use, None, "device")
