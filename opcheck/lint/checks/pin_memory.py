"""Memory that is pinned for copies to a device."""

import ast
from collections.abc import Iterator

from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

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
            text = f"memory is not pinned for {words.device}"
            return Judgement(Verdict.NATIVE, text, "", Confidence.MEDIUM, caution=True)
        need = f", which {words.package} brings" if words.package else ""
        text = f"pins for the accelerator that torch has{need}"
        return Judgement(Verdict.NATIVE, text, "", Confidence.MEDIUM)
