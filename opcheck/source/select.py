"""Which source kind a text is of."""

import os
from functools import cache
from pathlib import Path

import opcheck.source
from opcheck.errors import SourceError, UsageError
from opcheck.registry import discover
from opcheck.source.base import Source
from opcheck.source.sniff import FACTORY_HINT, Form, refuse_weights, sniff

ONNX_HINT = (
    "scan the PyTorch model that it was exported from: torch.export.save(torch.export.export("
    "model, inputs), 'model.pt2')"
)


@cache
def kinds() -> tuple[type[Source], ...]:
    """Every source kind, by name."""
    return discover(opcheck.source, Source)  # type: ignore[type-abstract]  # mypy #4717


def select(text: str) -> Source:
    """Give the kind that claims ``text``; UsageError naming the kinds where none does."""
    for kind in kinds():
        if kind.claims(text):
            return kind()
    path = Path(text)
    if path.suffix or os.path.exists(path):
        raise _no_model(path)
    forms = "; ".join(kind.help for kind in kinds())
    raise UsageError(f"not a model source: {text!r}", f"give one of: {forms}")


def _no_model(path: Path) -> SourceError:
    found = sniff(path)
    if found.form is Form.WEIGHTS:
        return refuse_weights(path, found.detail)
    if found.form is Form.EXPORTED:
        return SourceError(f"{path}: {found.detail} not named as one", f"call it {path.stem}.pt2")
    if found.form is Form.ONNX:
        return SourceError(f"{path} is an ONNX model; this reads PyTorch models", ONNX_HINT)
    return SourceError(f"{path}: {found.detail}", FACTORY_HINT)
