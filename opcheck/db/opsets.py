"""Versions of ONNX's operators, which a target of export may name: ``onnxruntime-cpu+opset21``."""

from collections.abc import Mapping
from typing import Any

from opcheck.db.versions import covers
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import OPSET, Target, TargetSpec


def opset_of(target: Target, release: Mapping[str, Any]) -> str:
    """The one that a target names, or the converter's own choice; "" where it writes none."""
    default = release.get("opsets", {}).get("default", "")
    return dict(target.libraries).get(OPSET, str(default))


def of_opset(said: Mapping[str, Any], target: Target, release: Mapping[str, Any]) -> bool:
    """Whether what a release's file says holds for the target's opset."""
    spans = said.get(OPSET)
    return spans is None or covers(spans, opset_of(target, release))


def opsets(release: Mapping[str, Any]) -> tuple[str, ...]:
    """Those that the converter writes, its own choice first; () where it writes none."""
    known = release.get("opsets")
    if known is None:
        return ()
    every = range(known["first"], known["last"] + 1)
    return tuple(map(str, sorted(every, key=lambda one: one != known["default"])))


def require_written(spec: TargetSpec, release: Mapping[str, Any]) -> None:
    """Refuse an opset that the converter of a target does not write.

    Raises:
        UsageError: it is another, or the target is none that is written in operators of ONNX.
    """
    named, known = dict(spec.libraries).get(OPSET), release.get("opsets")
    if named is None:
        return
    if known is None:
        raise UsageError(
            Sentence("{target} is not written in operators of ONNX", target=spec.name),
            Sentence("leave out {text}", text=f"+{OPSET}{named}"),
        )
    if named not in opsets(release):
        raise UsageError(
            Sentence(
                "{target} is written in opset {first} to {last}, not in {opset}",
                target=spec.name, first=known["first"], last=known["last"], opset=named,
            ),
            Sentence("leave it out for opset {opset}", opset=known["default"]),
        )  # fmt: skip
