"""Environment variables of CUDA's."""

import ast
import re
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting, Spot
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict

_VARIABLE = re.compile(r"(?:CUDA|CUDNN|CUBLAS|NCCL|TORCH_NCCL|TORCH_CUDA|PYTORCH_CUDA|NVIDIA)_\w+")
_CALLS = frozenset(
    {"os.getenv", "os.putenv", "os.unsetenv", "os.environ.get", "os.environ.setdefault",
     "os.environ.pop"}
)  # fmt: skip


class CudaEnvironment(Check):
    """``os.environ["CUDA_VISIBLE_DEVICES"]``, ``os.getenv("NCCL_DEBUG")``."""

    name = "cuda-environment"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every such variable that is read or set."""
        for node in source.nodes:
            key: ast.AST | None = None
            match node:
                case ast.Subscript(value=value, slice=key):
                    key = key if source.meaning(value) == "os.environ" else None
                case ast.Call(func=function, args=[key, *_]):
                    key = key if source.meaning(function) in _CALLS else None
                case _:
                    continue
            if isinstance(key, ast.Constant) and _VARIABLE.fullmatch(str(key.value)):
                yield Sighting(source.span(key), str(key.value), "", "", _spot(source, key))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Another vendor's runtime reads variables of its own."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        use = words.environment.get(seen.written, "")
        return Judgement(
            Verdict.NATIVE, f"is not read on {words.device}", use, caution=True, edit=use or None,
            evidence=words.known_by("environment") if use else (),
        )  # fmt: skip


def _spot(source: PythonSource, node: ast.Constant) -> Spot | None:
    """The name in its quotes."""
    place = source.exactly(node)
    if place is None or source.text[place[0] + 1 : place[1] - 1] != node.value:
        return None
    start, end = place
    return Spot(start + 1, end - 1, str(node.value))
