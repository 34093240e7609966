"""Tensors and modules sent to CUDA by the method of that name."""

import ast
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting, Spot
from opcheck.lint.python_source import PythonSource


class CudaCall(Check):
    """``x.cuda()``, ``model.cuda(0)``."""

    name = "cuda-call"
    topic = "method"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every call of a method ``cuda`` of what is no imported module."""
        for call in source.calls():
            if not (isinstance(call.func, ast.Attribute) and call.func.attr == "cuda"):
                continue
            meant = source.meaning(call.func)
            if len(call.args) > 1 or (meant and not _is_of_torch(meant)):
                continue
            if _forwards(source, call):
                continue
            place = source.exactly(call.func)
            if place is None:
                yield Sighting(source.span(call), ".cuda()", "", source.guard(call))
                continue
            spot = Spot(place[1] - len("cuda"), place[1], "cuda")
            span = source.span_of(spot.start - len("."), _end(source, call, place[1]))
            yield Sighting(span, ".cuda()", "", source.guard(call), spot)

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Torch without CUDA raises an error."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        text = "raises: torch has no CUDA there"
        if words.method:
            return ground.raises(text, f".{words.device}()", words.device, "method", "device")
        return ground.raises(text, f'.to("{words.device}")', None, "device")


def _is_of_torch(meant: str) -> bool:
    return meant in ("torch.Tensor.cuda", "torch.nn.Module.cuda")


def _forwards(source: PythonSource, call: ast.Call) -> bool:
    """Whether it is what a method of that name does: whoever calls that is told."""
    around: ast.AST | None = call
    while around is not None and not isinstance(around, ast.FunctionDef):
        around = source.parent(around)
    return around is not None and around.name == "cuda"


def _end(source: PythonSource, call: ast.Call, name: int) -> int:
    """Where a call ends whose callee ends at ``name``."""
    place = source.exactly(call)
    return name if place is None else place[1]
