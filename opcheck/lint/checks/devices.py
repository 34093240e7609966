"""Strings that name CUDA where a device is taken, and branches that ask for it."""

import ast
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.devices import named_devices, spot_of
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict

_MODE = "mode"


class DeviceString(Check):
    """``device="cuda"``, ``.to("cuda:0")``, ``torch.device("cuda")``."""

    name = "device-string"
    topic = "device"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every string that names CUDA in a place that takes a device."""
        for node, is_mode in named_devices(source):
            yield Sighting(
                source.span(node),
                source.written(node),
                _MODE if is_mode else "",
                source.guard(node),
                spot_of(source, node),
            )

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """Torch without CUDA refuses such a device; a mode for CUDA does nothing elsewhere."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        replacement = seen.written.replace("cuda", words.device, 1)
        if seen.topic == _MODE:
            return Judgement(
                Verdict.NATIVE,
                Sentence("switches CUDA's mode, and nothing on {device}", device=words.device),
                replacement, caution=True, edit=words.device, evidence=words.known_by("device"),
            )  # fmt: skip
        return ground.raises(
            "raises where it is used: torch has no CUDA there", replacement, words.device, "device"
        )


class DeviceBranch(Check):
    """``if x.is_cuda``, ``if device.type == "cuda"``, ``if "cuda" in str(device)``."""

    name = "device-branch"
    topic = "device"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every question whether a tensor or device is CUDA's; what else is asked, as its topic."""
        for node in source.nodes:
            asked = _compared_types(node)
            if asked is not None:
                yield Sighting(source.span(node), source.written(node), " ".join(asked))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """On another device the answer is no."""
        words = ground.porting
        if words.answers_cuda:
            return ground.answered
        if words.device in seen.topic.split():
            return Judgement(
                Verdict.NATIVE, Sentence("asks for {device} as well", device=words.device)
            )
        if seen.written.endswith(".is_cuda"):
            use = f"{seen.written.removesuffix('.is_cuda')}.is_{words.device}"
        else:
            use = seen.written.replace("cuda", words.device)
        text = Sentence("the branch for CUDA is not taken on {device}", device=words.device)
        return Judgement(Verdict.NATIVE, text, use, caution=True, evidence=words.known_by("device"))


def _compared_types(node: ast.AST) -> list[str] | None:
    """The device types that something is compared with, of which CUDA is one."""
    match node:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr="is_cuda"):
            return None  # an attribute of the user's own
        case ast.Attribute(attr="is_cuda", ctx=ast.Load()):
            return ["cuda"]
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            found = [*_texts(left), *_texts(right)]
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            found = [*_texts(left), *_texts(right)]
        case ast.Call(func=ast.Attribute(attr="startswith"), args=[argument]):
            found = _texts(argument)
        case _:
            return None
    return found if "cuda" in found else None


def _texts(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text.partition(":")[0]]
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return [text for element in elements for text in _texts(element)]
        case _:
            return []
