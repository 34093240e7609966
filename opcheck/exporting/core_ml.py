"""A model that ``torch.export`` captured, converted by coremltools into an ML program.

Core ML itself is part of macOS: nothing here runs what was converted. Nothing here looks at the
database either: what happens is what the libraries do.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from msgspec.structs import replace
from torch import nn

from opcheck.errors import UsageError
from opcheck.exporting import outputs
from opcheck.exporting.captured import captured, not_captured
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import ExportRun, Stage
from opcheck.source.building.torchvision_operators import open_sizes

FILE = "model.mlpackage"
"""What a model is called; it is a folder."""
LIBRARIES = ("coremltools",)
"""What converting takes, beside torch."""
_NO_CALLS = frozenset({"const"})


def require_installed() -> None:
    """Refuse where a library is missing.

    Raises:
        UsageError: it is not installed.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise UsageError(
                Sentence("{text} is not installed, and converting for it takes it", text=name),
                Sentence("install what it takes: pip install 'opcheck[{name}]'", name="coreml"),
            )


def prove(
    model: nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    path: str,
    opset: int | None = None,
    *,
    run: bool = True,
    marked: Sequence[DynamicInput] = (),
) -> ExportRun:
    """Convert a model for iOS 18 and macOS 15, and save it as ``path``; no system runs it here.

    ``marked``: dimensions that have no size of their own in it.
    """
    versions = tuple((name, version(name)) for name in ("torch", *LIBRARIES))
    started = time.perf_counter()
    with outputs.quiet(), torch.no_grad(), open_sizes():
        found = _exported(model, tuple(args), dict(kwargs), path, marked)
    return replace(found, versions=versions, seconds=time.perf_counter() - started)


def _exported(
    model: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    path: str,
    marked: Sequence[DynamicInput],
) -> ExportRun:
    import coremltools

    try:
        # as the library's own error says: it takes programs of the ATEN dialect alone
        graph = captured(model, args, kwargs, marked).run_decompositions({})
    except UsageError:
        raise
    except Exception as error:  # whatever the model's code raises while it is captured
        return not_captured(error, model)
    try:
        converted = coremltools.convert(
            graph,
            convert_to="mlprogram",
            minimum_deployment_target=coremltools.target.iOS18,
            skip_model_load=True,
        )
        converted.save(path)
    except Exception as error:  # whatever the converter raises
        return ExportRun(Stage.CONVERSION, outputs.told(error))
    calls = Counter(_calls(converted._mil_program))  # private: 8.0 to 9.0 have it
    operators = sorted((name, n) for name, n in calls.items() if name not in _NO_CALLS)
    return ExportRun(Stage.CONVERTED, operators=tuple(operators))


def _calls(program: Any) -> Iterator[str]:
    """Operators of an ML program, those of the blocks of loops and branches too."""
    blocks = list(program.functions.values())
    while blocks:
        for operation in blocks.pop().operations:
            yield operation.op_type
            blocks += operation.blocks
