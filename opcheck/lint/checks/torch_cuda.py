"""What is asked of ``torch.cuda``, switches of CUDA's back ends, and names given up."""

import ast
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lint.base import Check, Ground, Judgement, Sighting, Spot
from opcheck.lint.checks.tensors import is_tensor_type
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Confidence, Verdict

MODULE = "torch.cuda"
_DECIDES = frozenset({"is_available", "device_count"})
"""Where they say no, programs go on on the host."""
_AMP = {"torch.cuda.amp.autocast": "autocast", "torch.cuda.amp.GradScaler": "GradScaler"}
_INNER = frozenset({"memory", "random", "streams", "graphs"})
"""Modules in it whose names it has itself."""
_ALONE, _TYPE, _ASSERTED = "alone", "type", "asserted"


class CudaModule(Check):
    """``torch.cuda.synchronize()``, ``torch.cuda.Stream()``, ``torch.cuda.is_available()``."""

    name = "cuda-module"
    topic = "module"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every use of the module or of a name in it, however it was imported."""
        for node, meant in source.dotted():
            if is_tensor_type(meant) or not f"{meant}.".startswith(f"{MODULE}."):
                continue
            if _is_looked_up(source, node):
                continue
            topic, spot = _topic(source, node, meant), _spot(source, node, meant)
            if meant in _AMP:
                topic, spot = _amp(source, node, spot)
            yield Sighting(source.span(node), meant, topic, source.guard(node), spot)

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """What torch without CUDA does of it, and what the vendor has for it."""
        words = ground.porting
        if words.answers_cuda:
            return _refused(seen, ground) or ground.answered
        if seen.written in _AMP:
            return _mixed_precision(seen, ground)
        if seen.written.startswith(f"{MODULE}.amp."):
            return _of_mixed_precision(seen, ground)
        if seen.topic == _ALONE:
            text = "handed on as it is, for code that asks CUDA"
            return Judgement(Verdict.UNKNOWN, text, words.module, Confidence.LOW)
        name = _name(seen.written)
        use = words.counterpart(name)
        edit = _edit(seen, use)
        rest = seen.written.removeprefix(f"{MODULE}.{name}")
        use = f"{use}{rest}" if use and rest.startswith(".") else use
        evidence = words.known_by("module")
        if seen.topic == _TYPE:
            text = "is a type that nothing is of there"
            return Judgement(Verdict.NATIVE, text, use, caution=True, edit=edit, evidence=evidence)
        quiet = ground.names.quiet.get(name)
        if quiet and seen.topic == _ASSERTED:
            return ground.raises(f"fails: it {quiet}", use, edit, "module")
        if quiet and name in _DECIDES:
            text = Sentence("{text}, so the host is used", text=quiet)
            return Judgement(Verdict.FALLBACK, text, use, edit=edit, evidence=evidence)
        if quiet:
            return Judgement(Verdict.NATIVE, quiet, use, caution=True, edit=edit, evidence=evidence)
        if use:
            return ground.raises("raises: torch has no CUDA there", use, edit, "module")
        asked = words.module or words.package or words.device
        return ground.raises(
            Sentence("raises there, and {text} names nothing like it", text=asked),
            "",
            None,
            "module",
        )


def _topic(source: PythonSource, node: ast.expr, meant: str) -> str:
    """How a name is used, where that matters."""
    if meant == MODULE:
        return _ALONE
    around = source.parent(node)
    called = around is not None and isinstance(around, ast.Call) and around.func is node
    if around is not None and called and isinstance(source.parent(around), ast.Assert):
        return _ASSERTED
    return _TYPE if not called and meant.rpartition(".")[2][:1].isupper() else ""


def _is_looked_up(source: PythonSource, node: ast.expr) -> bool:
    """Whether it only looks what there is: ``hasattr(torch.cuda, "nvtx")``."""
    match source.parent(node):
        case ast.Call(func=ast.Name(id="hasattr"), args=[first, *_]):
            return first is node
        case _:
            return False


def _name(written: str) -> str:
    """The name in ``torch.cuda`` that a dotted one goes back to."""
    head, _, rest = written.removeprefix(f"{MODULE}.").partition(".")
    return rest.partition(".")[0] if head in _INNER and rest else head


def _refused(seen: Sighting, ground: Ground) -> Judgement | None:
    """What the vendor says it does not support."""
    for name, told in ground.porting.unsupported.items():
        if f"{seen.written}.".startswith(f"{name}."):
            return Judgement(Verdict.UNSUPPORTED, told.text, told.use, evidence=told.evidence)
    return None


def _spot(source: PythonSource, node: ast.expr, meant: str) -> Spot | None:
    """The whole dotted name, where it is written out from torch on."""
    place = source.exactly(node)
    if place is None:
        return None
    start, end = place
    written = source.text[start:end]
    base, dot, rest = written.partition(".")
    if not (base.isidentifier() and dot and f"torch.{rest}" == meant):
        return None
    return Spot(start, end, written)


def _edit(seen: Sighting, use: str) -> str | None:
    """The counterpart as this source would write it."""
    if seen.spot is None or not use or seen.written.count(".") != MODULE.count(".") + 1:
        return None
    base = seen.spot.written.partition(".")[0]
    return use.replace("torch", base, 1) if use.startswith("torch.") else use


def _amp(source: PythonSource, node: ast.expr, spot: Spot | None) -> tuple[str, Spot | None]:
    """What follows the name, and the spot with the bracket that opens the arguments."""
    call = source.parent(node)
    if spot is None or not isinstance(call, ast.Call) or call.func is not node or call.args:
        return "amp", None
    if any(keyword.arg is None for keyword in call.keywords):
        return "amp", None
    if source.text[spot.end : spot.end + 1] != "(":
        return "amp", None
    return ", " if call.keywords else "", Spot(spot.start, spot.end + 1, f"{spot.written}(")


def _of_mixed_precision(seen: Sighting, ground: Ground) -> Judgement:
    """What else there is of it: decorators for autograd functions."""
    told = ground.names.deprecated.get(seen.written)
    use = told.use.replace("cuda", ground.porting.device) if told else ""
    text = "is for CUDA alone and does nothing there"
    return Judgement(
        Verdict.NATIVE, text, use, caution=True, evidence=told.evidence if told else ()
    )


def _mixed_precision(seen: Sighting, ground: Ground) -> Judgement:
    device, name = ground.porting.device, _AMP[seen.written]
    use = f'torch.amp.{name}("{device}")'
    edit = None
    if seen.spot is not None:
        base = seen.spot.written.partition(".")[0]
        edit = f'{base}.amp.{name}("{device}"{seen.topic}'
    return Judgement(
        Verdict.NATIVE, "is for CUDA alone and does nothing there", use, caution=True, edit=edit,
        evidence=(*ground.names.deprecated[seen.written].evidence,),
    )  # fmt: skip


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
        return Judgement(
            Verdict.NATIVE,
            Sentence("switches nothing on {device}", device=words.device),
            caution=True,
        )


class DeprecatedName(Check):
    """``torch_npu.npu_conv2d``, ``torch.cuda.amp.autocast``, ``torch.set_default_tensor_type``."""

    name = "deprecated-name"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every use of a name that the database tells of, and imports that nothing uses."""
        used: set[str] = set()
        for node, meant in source.dotted():
            if meant in source.watched:
                used.add(meant)
                yield Sighting(source.span(node), meant)
        for imported, name in source.imports():
            if name in source.watched and name not in used:
                yield Sighting(source.span(imported), name)

    def judge(self, seen: Sighting, ground: Ground) -> Judgement | None:
        """It runs, and warns; of CUDA's own on another device other checks tell."""
        words = ground.porting
        told = words.deprecated.get(seen.written)
        if told is None:
            told = ground.names.deprecated.get(seen.written)
            if told is None or (seen.written.startswith("torch.cuda") and not words.answers_cuda):
                return None
            if seen.written.startswith("torch.backends.cuda") and not words.answers_cuda:
                return None
            text = "PyTorch has given it up"
        else:
            text = Sentence(
                "its vendor has given it up, as {text} says", text=told.evidence[0].path
            )
        return Judgement(Verdict.NATIVE, text, told.use, caution=True, evidence=told.evidence)
