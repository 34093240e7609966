"""Code that is given to ``torch.compile``, by the back end that it names."""

import ast
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lint.base import Check, Ground, Judgement, Sighting
from opcheck.lint.python_source import PythonSource
from opcheck.model.matrix import Compiler, CompilerDoes
from opcheck.model.verdict import Confidence, Method, Verdict

_COMPILE = "torch.compile"
_INDUCTOR, _REDUCE_OVERHEAD = "inductor", "reduce-overhead"
_CAPTURING = frozenset({_REDUCE_OVERHEAD, "max-autotune"})
"""Modes in which inductor captures graphs of the device."""
_NOWHERE = frozenset({"", "eager"})
"""What is no back end of the device's: one that is not written down, and none."""


class TorchCompile(Check):
    """``torch.compile(model)``, ``@torch.compile``, ``torch.compile(f, backend="openxla")``."""

    name = "torch-compile"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every place that compiles, with the back end and whether graphs are captured."""
        for node, meant in source.dotted():
            if meant != _COMPILE:
                continue
            parent = source.parent(node)
            call = parent if isinstance(parent, ast.Call) and parent.func is node else None
            backend, mode = _asked(call)
            if backend not in _NOWHERE:
                captures = backend == _INDUCTOR and mode in _CAPTURING
                topic = f"{backend} {_REDUCE_OVERHEAD}" if captures else backend
                yield Sighting(source.span(node), _COMPILE, topic)

    def judge(self, seen: Sighting, ground: Ground) -> Judgement | None:
        """What the database knows of the back end on the target; None where it is not known."""
        for name in seen.topic.split():
            known = ground.compilers.get(name)
            if known is None:
                return None
            found = _judged(name, known)
            if found is not None:
                return found
        return None


def _asked(call: ast.Call | None) -> tuple[str, str]:
    """Back end and mode of a call; "" for what is no string, or for what is turned off."""
    given = {keyword.arg: keyword.value for keyword in call.keywords} if call else {}
    off = given.get("disable")
    if None in given or (off is not None and _constant(off) is not False):
        return "", ""
    backend = given.get("backend")
    name = _INDUCTOR if backend is None else _constant(backend)
    mode = _constant(given["mode"]) if "mode" in given else ""
    return (name if isinstance(name, str) else ""), (mode if isinstance(mode, str) else "")


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _judged(name: str, known: Compiler) -> Judgement | None:
    """An error or a warning; None where the back end is there."""
    inferred = all(found.method is Method.INFERRED for found in known.evidence)
    sure = Confidence.LOW if inferred else Confidence.HIGH
    if known.does is CompilerDoes.RAISES:
        return Judgement(
            Verdict.UNSUPPORTED,
            Sentence('raises with the backend {backend}, "{text}"', backend=name, text=known.error),
            f'backend="{known.instead}"' if known.instead else "",
            sure,
            evidence=known.evidence,
        )
    if known.does is CompilerDoes.SKIPS:
        return Judgement(
            Verdict.NATIVE,
            Sentence('warns with {backend}, "{text}"', backend=name, text=known.error),
            "",
            sure,
            caution=True,
            evidence=known.evidence,
        )
    return None
