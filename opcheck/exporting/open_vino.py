"""A model that ``torch.export`` captured, converted by OpenVINO, run on the CPU, and compared."""

import functools
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.exporting.captured import other_sizes
from opcheck.exporting.exporter import Asked, Exporter, Session
from opcheck.model.exporting import ExportRun, Stage

_DEVICE = "CPU"
_NO_CALLS = frozenset({"Constant", "Parameter", "Result"})
_FRAME = (
    "Check '", "Exception from ", "FrontEnd API failed", "Model wasn't fully converted", "Summary",
    "Converting ", "Conversion is failed for", "Exception happened during conversion",
)  # fmt: skip
"""Lines that every error of the library has, whatever went wrong."""


class OpenVino(Exporter):
    """Converts by OpenVINO's PyTorch frontend, and runs by its CPU plugin."""

    extra = "openvino"
    file = "model.xml"  # its weights lie beside it, in a file of that name
    libraries = ("openvino",)

    def written(
        self, graph: torch.export.ExportedProgram, asked: Asked
    ) -> tuple[ExportRun, Session | None]:
        """Convert the graph, open what is marked, and write it with its weights as they are."""
        import openvino
        from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

        decoder = TorchFXPythonDecoder.from_exported_program(graph)
        converted = openvino.convert_model(decoder)
        places = _Places(decoder, converted, graph.example_inputs)
        converted.reshape(_shapes(places, asked))
        openvino.save_model(converted, asked.path, compress_to_fp16=False)
        calls = Counter(each.get_type_name() for each in converted.get_ops())
        operators = sorted((name, n) for name, n in calls.items() if name not in _NO_CALLS)
        return ExportRun(Stage.PROVED, operators=tuple(operators)), _session(asked.path, places)

    def told(self, error: BaseException) -> str:
        """The exception's type and the first line that is of this error alone."""
        text = str(error).replace("[PyTorch Frontend] ", "")
        lines = [line.strip().removeprefix("-- ") for line in text.splitlines()]
        own = [
            line.replace(" with a message:", ":")
            for line in lines
            if line and not line.startswith(_FRAME)
        ]
        return f"{type(error).__name__}: {' '.join(own or lines)[:300]}"


class _Places:
    """Which of the model's inputs each input of the file is; the converter drops unread ones."""

    def __init__(self, decoder: Any, converted: Any, inputs: Any) -> None:
        self._names = tuple(inputs[1])
        leaves = pytree.tree_leaves(inputs)
        named = {decoder.get_input_signature_name(i): i for i in range(len(leaves))}
        self._leaves = [named[each.get_node().friendly_name] for each in converted.inputs]

    def given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int, Tensor]:
        """Input of the file -> its tensor among inputs of the model."""
        leaves = pytree.tree_leaves((tuple(args), {name: kwargs[name] for name in self._names}))
        found = (leaves[place] for place in self._leaves)
        return {i: _paired(tensor.detach()).contiguous() for i, tensor in enumerate(found)}


def _shapes(places: _Places, asked: Asked) -> dict[int, list[int]]:
    """Input of the file -> its shape, with -1 for what is marked."""
    inputs = (asked.args, asked.kwargs)
    found = {place: list(tensor.shape) for place, tensor in places.given(*inputs).items()}
    others_of = other_sizes(asked.marked, asked.model, *inputs)
    for _, others in islice(others_of, 1 if asked.marked else 0):
        for place, tensor in places.given(*others).items():
            both = zip(found[place], tensor.shape, strict=True)
            found[place] = [size if size == other else -1 for size, other in both]
    return found


def _paired(tensor: Tensor) -> Tensor:
    """Complex numbers as the converter has them: pairs of real ones."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


@functools.cache
def _core() -> Any:
    """The runtime, whose plugins take a while to load."""
    import openvino

    return openvino.Core()


def _session(path: str, places: _Places) -> Session:
    """What runs the file on inputs of the model; compiled at the first call."""
    compiled = functools.cache(functools.partial(_compiled, path))
    return lambda inputs: _results(compiled(), places.given(*inputs))


def _compiled(path: str) -> Any:
    options = {
        "INFERENCE_PRECISION_HINT": "f32",  # bfloat16 is the default where a CPU has it
        "INFERENCE_NUM_THREADS": int(os.environ.get("OMP_NUM_THREADS", "0") or 0),
    }
    return _core().compile_model(path, _DEVICE, options)


def _results(compiled: Any, given: Mapping[int, Tensor]) -> list[Tensor]:
    request = compiled.create_infer_request()
    request.infer({place: _as_given(tensor) for place, tensor in given.items()})
    return [_as_torch(request.get_output_tensor(place)) for place in range(len(compiled.outputs))]


def _as_given(tensor: Tensor) -> Any:
    import openvino

    if tensor.dtype is torch.bfloat16:  # numpy has none
        found = openvino.Tensor(openvino.Type.bf16, openvino.Shape(list(tensor.shape)))
        found.data.view("int16")[...] = tensor.view(torch.int16).numpy()
        return found
    return openvino.Tensor(tensor.numpy(), shared_memory=False)


def _as_torch(tensor: Any) -> Tensor:
    import openvino

    if tensor.element_type == openvino.Type.bf16:
        return torch.from_numpy(tensor.data.view("int16").copy()).view(torch.bfloat16)
    return torch.from_numpy(tensor.data.copy())
