"""Models exported by ``torch.onnx``, and run by ONNX Runtime on the CPU."""

import functools
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.exporting import outputs
from opcheck.exporting.exporter import Asked, Exporter, Session
from opcheck.model.exporting import ExportRun, Stage

_PROVIDER = "CPUExecutionProvider"
_WIDE = {torch.bfloat16: torch.float32}
"""What numpy has no dtype for -> what stands for it in a comparison."""


class OnnxRuntime(Exporter):
    """Exports by ``torch.onnx``, and runs by ONNX Runtime's CPU provider."""

    extra = "onnx"
    file = "model.onnx"
    libraries = ("onnx", "onnxscript", "onnxruntime")

    def written(
        self, graph: torch.export.ExportedProgram, asked: Asked
    ) -> tuple[ExportRun, Session | None]:
        """Convert the graph at the opset that is asked for, and write it."""
        program = torch.onnx.export(graph, dynamo=True, opset_version=asked.opset, verbose=False)
        assert program is not None
        program.save(asked.path)
        nodes = program.model.graph.all_nodes()
        calls = Counter(_name(node.domain, node.op_type) for node in nodes)
        found = ExportRun(
            Stage.PROVED,
            opset=program.model.opset_imports.get("", 0),
            operators=tuple(sorted(calls.items())),
        )
        return found, _session(asked.path)

    def told(self, error: BaseException) -> str:
        """What an error says that was raised first: exporters wrap it in long advice."""
        while error.__cause__ is not None:
            error = error.__cause__
        return outputs.told(error)


def _name(domain: str, operator: str) -> str:
    return f"{domain}::{operator}" if domain else operator


def _session(path: str) -> Session:
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
