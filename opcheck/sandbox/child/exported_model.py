"""A model exported in the worker, by the converter of its target, and run by its runtime."""

import copy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from opcheck.lang.sentence import Sentence
from opcheck.model.exporting import ExportRequest, ExportRun
from opcheck.model.target import TargetSpec
from opcheck.sandbox.child.process import Process
from opcheck.source.base import Loaded

if TYPE_CHECKING:
    from opcheck.exporting.exporter import Exporter


def exporter_of(vendor: str, target: str = "") -> "Exporter":
    """What exports for a target of a vendor, by its canonical name."""
    from opcheck.exporting import core_ml, execu_torch, lite_rt, onnx_runtime, open_vino

    if vendor == "executorch":
        return execu_torch.ExecuTorch(TargetSpec.parse(target).name.partition("-")[2])
    found: dict[str, type[Exporter]] = {
        "coreml": core_ml.CoreMl,
        "litert": lite_rt.LiteRt,
        "onnxruntime": onnx_runtime.OnnxRuntime,
        "openvino": open_vino.OpenVino,
    }
    return found[vendor]()


def exported(request: ExportRequest, process: Process, load: Callable[[], Loaded]) -> ExportRun:
    """Export a model, and run it where that is asked for.

    Raises:
        UsageError: a library that it takes is not installed.
    """
    from opcheck.trace.run import as_module

    exporter = exporter_of(request.vendor, request.target)
    exporter.require_installed()
    loaded = load()
    process.begin("emulate", Sentence("exporting {source}", source=request.model.source))
    args, kwargs = copy.deepcopy((loaded.args, loaded.kwargs))
    module = as_module(loaded.module).eval()
    with tempfile.TemporaryDirectory() as folder:
        path = request.path or str(Path(folder) / exporter.file)
        return exporter.prove(
            module, args, kwargs, path, request.opset or None,
            run=request.run, marked=request.model.dynamic,
        )  # fmt: skip
