"""Tensors sent to CUDA, of its old types, pinned for it, or loaded back to it."""

import ast
import re
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lint.base import Check, Ground, Judgement, Sighting, Spot
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

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


_CANNOT = frozenset({"mps", "xla"})


class PinMemory(Check):
    """``DataLoader(pin_memory=True)``, ``x.pin_memory()``."""

    name = "pin-memory"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every place that pins."""
        for call in source.calls():
            for keyword in call.keywords:
                match keyword:
                    case ast.keyword(arg="pin_memory", value=ast.Constant(value=True)):
                        yield Sighting(source.span(keyword.value), "pin_memory=True")
                    case _:
                        pass
            match call:
                case ast.Call(func=ast.Attribute(attr="pin_memory"), args=[]):
                    if not source.meaning(call.func):
                        yield Sighting(source.span(call), ".pin_memory()")
                case _:
                    pass

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Torch pins for the accelerator that it has, where that one pins."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        if words.device in _CANNOT:
            text = Sentence("memory is not pinned for {device}", device=words.device)
            return Judgement(Verdict.NATIVE, text, "", Confidence.MEDIUM, caution=True)
        pins = "pins for the accelerator that torch has"
        if words.package:
            pins = "pins for the accelerator that torch has, which {package} brings"
        text = Sentence(pins, package=words.package)
        return Judgement(Verdict.NATIVE, text, "", Confidence.MEDIUM)


class MapLocation(Check):
    """``torch.load(path)`` without ``map_location``."""

    name = "map-location"
    topic = "device"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every load that does not say where to."""
        for call in source.calls():
            if source.meaning(call.func) != "torch.load" or len(call.args) > 1:
                continue
            told = {keyword.arg for keyword in call.keywords}
            starred = any(isinstance(argument, ast.Starred) for argument in call.args)
            if not starred and told.isdisjoint({"map_location", None}):
                yield Sighting(source.span(call.func), "torch.load", "", source.guard(call))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """A checkpoint with tensors of CUDA's cannot be put there."""
        if ground.porting.answers_cuda:
            return ground.answered
        return Judgement(
            Verdict.NATIVE, "raises where the checkpoint holds CUDA tensors",
            'map_location="cpu"', caution=True,
        )  # fmt: skip
