"""Collectives over NCCL."""

import ast
import re
from collections.abc import Iterator

from opcheck.lang.sentence import Sentence
from opcheck.lint.base import Check, Ground, Judgement, Sighting, Spot
from opcheck.lint.python_source import PythonSource
from opcheck.model.verdict import Verdict

_STARTS = frozenset(
    {"torch.distributed.init_process_group", "torch.distributed.new_group",
     "torch.distributed.distributed_c10d.init_process_group",
     "torch.distributed.device_mesh.init_device_mesh", "torch.distributed.Backend"}
)  # fmt: skip
_BACKEND = re.compile(r"(?:cpu:\w+,)?(?:cuda:)?nccl(?:,cpu:\w+)?", re.IGNORECASE)
_ASKS = re.compile(r"torch\.distributed\.(?:distributed_c10d\.)?is_nccl_available")
_CLASS = re.compile(
    r"torch\.distributed\.(?:distributed_c10d\.)?(?:ProcessGroupNCCL|Backend\.NCCL)\b.*"
)
_COMPARED, _ASKED = "compared", "asked"


class Nccl(Check):
    """``init_process_group("nccl")``, ``backend="nccl"``, ``is_nccl_available()``."""

    name = "nccl"
    topic = "nccl"

    def in_python(self, source: PythonSource) -> Iterator[Sighting]:
        """Every place that chooses or asks for it."""
        seen: set[ast.expr] = set()
        for node in source.nodes:
            for value, topic in _taken(node, source):
                if value not in seen:
                    seen.add(value)
                    yield Sighting(
                        source.span(value), source.written(value), topic, source.guard(value),
                        None if topic else _spot(source, value),
                    )  # fmt: skip
        for node, meant in source.dotted():
            if _ASKS.fullmatch(meant):
                yield Sighting(source.span(node), meant, _ASKED)
            elif _CLASS.fullmatch(meant):
                yield Sighting(source.span(node), meant, "", source.guard(node))

    def judge(self, seen: Sighting, ground: Ground) -> Judgement:
        """No other device has NCCL; ROCm's own library goes by its name."""
        words = ground.porting
        if words.answers_cuda:
            return Judgement(
                Verdict.NATIVE, ground.answered.text,
                evidence=words.known_by("collectives", "answers"),
            )  # fmt: skip
        known = words.known_by("collectives")
        if seen.topic == _ASKED:
            text = "is False there"
            return Judgement(Verdict.NATIVE, text, caution=True, evidence=known)
        use = re.sub("nccl", words.collectives, seen.written, flags=re.IGNORECASE)
        use = use.replace("cuda:", f"{words.device}:")
        if seen.written.startswith("torch."):
            use = f'"{words.collectives}"'
        if seen.topic == _COMPARED:
            text = Sentence(
                "the branch for NCCL is not taken with {backend}",
                backend=words.collectives or "another",
            )
            return Judgement(Verdict.NATIVE, text, use, caution=True, evidence=known)
        if not words.collectives:
            return ground.raises("raises: NCCL is for CUDA alone")
        return ground.raises(
            "raises: NCCL is for CUDA alone", use, words.collectives, "collectives"
        )


def _taken(node: ast.AST, source: PythonSource) -> Iterator[tuple[ast.expr, str]]:
    """The strings in a node that choose a back end, or are compared with one."""
    match node:
        case ast.Call():
            if source.meaning(node.func) in _STARTS:
                yield from ((value, "") for value in node.args[:1] if _is_nccl(value))
            for keyword in node.keywords:
                if keyword.arg and _names_backend(keyword.arg):
                    yield from _all(keyword.value)
        case ast.Assign(targets=targets, value=value):
            names = (getattr(t, "id", getattr(t, "attr", "")) for t in targets)
            if any(map(_names_backend, names)):
                yield from _all(value)
        case ast.arguments():
            plain = [*node.posonlyargs, *node.args]
            pairs = [
                *zip(plain[len(plain) - len(node.defaults) :], node.defaults, strict=True),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            for parameter, default in pairs:
                if default is not None and _names_backend(parameter.arg):
                    yield from _all(default)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            yield from ((value, _COMPARED) for value in (left, right) if _is_nccl(value))
        case _:
            return


def _all(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_all(body), *_all(orelse))
        case _ if _is_nccl(value):
            yield value, ""
        case _:
            return


def _names_backend(name: str) -> bool:
    lower = name.lower()
    return lower == "backend" or (lower.endswith("_backend") and "nccl" not in lower)


def _is_nccl(node: ast.expr) -> bool:
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    return _BACKEND.fullmatch(node.value) is not None


def _spot(source: PythonSource, node: ast.expr) -> Spot | None:
    """The word in the quotes, where it stands alone in them."""
    place = source.exactly(node)
    if place is None:
        return None
    start, end = place
    match = re.fullmatch(r"""(["'])(nccl)\1""", source.text[start:end])
    if match is None:
        return None
    return Spot(start + match.start(2), start + match.end(2), match[2])
