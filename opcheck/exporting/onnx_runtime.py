"""A model exported by ``torch.onnx``, run by ONNX Runtime on the CPU, and compared with PyTorch.

Nothing here looks at the database: what happens is what the libraries do.
"""

import functools
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.errors import UsageError
from opcheck.exporting import outputs
from opcheck.exporting.captured import captured, not_captured, ran
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import ExportRun, Stage
from opcheck.source.building.torchvision_operators import open_sizes

FILE = "model.onnx"
"""What a model is called that is not kept."""
LIBRARIES = ("onnx", "onnxscript", "onnxruntime")
"""What exporting and running takes, beside torch."""
_PROVIDER = "CPUExecutionProvider"
_WIDE = {torch.bfloat16: torch.float32}
"""What numpy has no dtype for -> what stands for it in a comparison."""


def require_installed() -> None:
    """Refuse where a library is missing.

    Raises:
        UsageError: it is not installed.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise UsageError(
                Sentence("{text} is not installed, and exporting to ONNX takes it", text=name),
                Sentence("install what it takes: pip install 'opcheck[{name}]'", name="onnx"),
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
    """Export a model to ``path``; ``run`` the file too, and compare what it gives with PyTorch.

    ``marked``: dimensions that have no size of their own in the file; it is run with others too.
    """
    versions = tuple((name, version(name)) for name in ("torch", *LIBRARIES))
    started = time.perf_counter()
    with outputs.quiet(), torch.no_grad(), open_sizes():
        found = _exported(model, tuple(args), dict(kwargs), path, opset, marked)
        seconds = time.perf_counter() - started
        if run and found.stage.converted:
            found = ran(found, model, (tuple(args), dict(kwargs)), marked, _session(path))
    return replace(found, versions=versions, seconds=seconds)


def _exported(
    model: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    path: str,
    opset: int | None,
    marked: Sequence[DynamicInput],
) -> ExportRun:
    try:
        graph = captured(model, args, kwargs, marked)
    except UsageError:
        raise
    except Exception as error:  # whatever the model's code raises while it is captured
        return not_captured(error, model)
    try:
        program = torch.onnx.export(graph, dynamo=True, opset_version=opset, verbose=False)
        assert program is not None
        program.save(path)
    except Exception as error:  # whatever the converter raises
        return ExportRun(Stage.CONVERSION, outputs.told(_root(error)))
    nodes = program.model.graph.all_nodes()
    calls = Counter(_name(node.domain, node.op_type) for node in nodes)
    return ExportRun(
        Stage.PROVED,
        opset=program.model.opset_imports.get("", 0),
        operators=tuple(sorted(calls.items())),
    )


def _name(domain: str, operator: str) -> str:
    return f"{domain}::{operator}" if domain else operator


def _root(error: BaseException) -> BaseException:
    """What an error was raised from first: exporters wrap it in long advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _session(path: str) -> Callable[[Any], list[Tensor]]:
    """What runs the file on inputs of the model; loaded at the first call."""

    @functools.cache
    def session() -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0") or 0)
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(path, options, providers=[_PROVIDER])

    def run(inputs: Any) -> list[Tensor]:
        given = [t for t in pytree.tree_leaves(inputs) if isinstance(t, Tensor)]
        return _results(session(), given)

    return run


def _results(session: Any, given: Sequence[Tensor]) -> list[Tensor]:
    import onnxruntime

    names = [each.name for each in session.get_inputs()]
    tensors = [tensor.detach().contiguous() for tensor in given]
    if len(names) != len(tensors):  # inputs that nothing reads are left out by some releases
        tensors = tensors[: len(names)]
    values = [
        onnxruntime.OrtValue.ortvalue_from_numpy(_numpy(t)) if t.dtype not in _WIDE else _raw(t)
        for t in tensors
    ]
    ran = session.run_with_ort_values(None, dict(zip(names, values, strict=True)))
    return [torch.utils.dlpack.from_dlpack(each._ortvalue.to_dlpack()).clone() for each in ran]


def _numpy(tensor: Tensor) -> Any:
    if tensor.is_complex():  # as the exporter writes complex numbers: pairs of real ones
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.numpy()


def _raw(tensor: Tensor) -> Any:
    """A tensor of a dtype that numpy lacks, as its bits."""
    import onnxruntime
    from onnx import TensorProto

    bits = tensor.view(torch.int16).numpy()
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
