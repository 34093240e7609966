"""A model exported in the worker, by the converter of its target, and run by its runtime."""

import copy
import tempfile
from collections.abc import Callable
from pathlib import Path

from opcheck.lang.sentence import Sentence
from opcheck.model.exporting import ExportRequest, ExportRun
from opcheck.sandbox.child.process import Process
from opcheck.source.base import Loaded


def exported(request: ExportRequest, process: Process, load: Callable[[], Loaded]) -> ExportRun:
    """Export a model, and run it where that is asked for.

    Raises:
        UsageError: a library that it takes is not installed.
    """
    from opcheck.exporting.onnx_runtime import prove, require_installed
    from opcheck.trace.run import as_module

    require_installed()
    loaded = load()
    process.begin("emulate", Sentence("exporting {source}", source=request.model.source))
    args, kwargs = copy.deepcopy((loaded.args, loaded.kwargs))
    module = as_module(loaded.module).eval()
    with tempfile.TemporaryDirectory() as folder:
        path = request.path or str(Path(folder) / "model.onnx")
        return prove(module, args, kwargs, path, request.opset or None, run=request.run)
