"""Which source kind a text is of, and loading it in a process that is ours."""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import opcheck.source.kinds
from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.schemas import Libraries
from opcheck.registry import discover
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.sniff import FACTORY_HINT, Form, refuse_weights, sniff

if TYPE_CHECKING:
    from opcheck.source.building.stand_ins.finder import StandIns
    from opcheck.source.building.stand_ins.installed import Installed

ONNX_HINT = Sentence(
    "scan the PyTorch model that it was exported from: "
    "torch.export.save(torch.export.export(model, inputs), 'model.pt2')"
)


@cache
def kinds() -> tuple[type[Source], ...]:
    """Every source kind, by name."""
    return discover(opcheck.source.kinds, Source)  # type: ignore[type-abstract]  # mypy #4717


def select(text: str) -> Source:
    """Give the kind that claims ``text``; UsageError naming the kinds where none does."""
    for kind in kinds():
        if kind.claims(text):
            return kind()
    from opcheck.source.meant import meant  # asked of a text that names nothing

    if hint := meant(text):
        raise UsageError(Sentence("not a model source: {text}", text=repr(text)), hint)
    path = Path(text)
    if path.suffix or os.path.exists(path):
        raise _no_model(path)
    forms = "; ".join(kind.help for kind in kinds())
    raise UsageError(
        Sentence("not a model source: {text}", text=repr(text)),
        Sentence("give one of: {text}", text=forms),
    )


def _no_model(path: Path) -> SourceError:
    found = sniff(path)
    if found.form is Form.WEIGHTS:
        return refuse_weights(path, found.detail)
    if found.form is Form.EXPORTED:
        return SourceError(
            Sentence("{text_file}: {text} not named as one", text_file=path, text=found.detail),
            Sentence("call it {stem}.pt2", stem=path.stem),
        )
    if found.form is Form.ONNX:
        return SourceError(
            Sentence("{text_file} is an ONNX model; this reads PyTorch models", text_file=path),
            ONNX_HINT,
        )
    return SourceError(Sentence("{error}: {text}", error=path, text=found.detail), FACTORY_HINT)


def prepare(
    libraries: Libraries | None,
    *,
    weights: bool,
    on_device: bool = False,
    plugin: "Installed | None" = None,
) -> "StandIns | None":
    """Have code that is run from now on find what stands for what is not there.

    Args:
        libraries: what is known of libraries that are not installed; None: nothing stands for them.
        weights: whether tensors have values.
        on_device: whether the code makes its model on the device itself.
        plugin: the package that brings the device, which all code finds.

    Returns:
        what stands for such libraries.
    """
    from opcheck.source.building import (  # torch, only for work
        absent_weights,
        processes,
        sharding,
        torchvision_operators,
    )
    from opcheck.source.building.stand_ins import extensions

    torchvision_operators.prepare()
    processes.prepare()
    if not on_device:
        sharding.prepare()
    extensions.prepare()
    absent_weights.prepare(values=weights)
    stand_ins = None
    if libraries is not None:
        from opcheck.source.building.stand_ins import finder

        stand_ins = finder.install(libraries)
        stand_ins.installed = plugin
    if weights:
        torchvision_operators.compute()
    return stand_ins


def load(text: str, options: LoadOptions) -> Loaded:
    """Give the model that ``text`` names, ready to be traced."""
    source = select(text)
    source.check(text, options)
    stand_ins = prepare(options.libraries, weights=options.weights)
    from opcheck.source.building import absent_weights, processes, torchvision_operators
    from opcheck.source.building.stand_ins import imports

    loaded = source.load(text, options)
    torchvision_operators.settle()
    absent = stand_ins.notes() if stand_ins is not None else ()
    return replace(
        loaded,
        notes=(*loaded.notes, *absent, *processes.notes(), *absent_weights.notes()),
        imports=imports.needed(source.path(text), stand_ins),
    )
