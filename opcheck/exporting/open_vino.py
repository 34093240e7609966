"""A model that ``torch.export`` captured, converted by OpenVINO, run on the CPU, and compared.

Nothing here looks at the database: what happens is what the libraries do.
"""

import functools
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.errors import UsageError
from opcheck.exporting import outputs
from opcheck.lang.sentence import Sentence
from opcheck.model.exporting import ExportRun, Stage
from opcheck.source.building.torchvision_operators import open_sizes

FILE = "model.xml"
"""What a model is called that is not kept; its weights lie beside it, in a file of that name."""
LIBRARIES = ("openvino",)
"""What exporting and running takes, beside torch."""
_DEVICE = "CPU"
_NO_CALLS = frozenset({"Constant", "Parameter", "Result"})
_FRAME = (
    "Check '", "Exception from ", "FrontEnd API failed", "Model wasn't fully converted", "Summary",
    "Converting ", "Conversion is failed for", "Exception happened during conversion",
)  # fmt: skip
"""Lines that every error of the library has, whatever went wrong."""


def require_installed() -> None:
    """Refuse where a library is missing.

    Raises:
        UsageError: it is not installed.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise UsageError(
                Sentence("{text} is not installed, and converting for it takes it", text=name),
                Sentence("install what it takes: pip install 'opcheck[openvino]'"),
            )


def prove(
    model: nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    path: str,
    opset: int | None = None,
    *,
    run: bool = True,
) -> ExportRun:
    """Convert a model and save it as ``path``; ``run`` it too, and compare with PyTorch."""
    versions = tuple((name, version(name)) for name in ("torch", *LIBRARIES))
    started = time.perf_counter()
    with outputs.quiet(), torch.no_grad(), open_sizes():
        found, given = _exported(model, tuple(args), dict(kwargs), path)
        seconds = time.perf_counter() - started
        if run and found.stage.converted:
            wanted, again = (outputs.of_model(model, args, kwargs) for _ in range(2))
            try:
                found = outputs.compared(found, wanted, again, _results(path, given))
            except Exception as error:  # whatever the runtime raises
                found = replace(found, stage=Stage.RUNTIME, error=told(error))
    return replace(found, versions=versions, seconds=seconds)


def _exported(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], path: str
) -> tuple[ExportRun, dict[int, Tensor]]:
    """What became of the conversion, and what is to be given to the model's inputs."""
    import openvino
    from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

    try:
        captured = torch.export.export(model, args, kwargs, strict=False)
    except Exception as error:  # whatever the model's code raises while it is captured
        return ExportRun(Stage.CAPTURE, outputs.told(error)), {}
    try:
        decoder = TorchFXPythonDecoder.from_exported_program(captured)
        converted = openvino.convert_model(decoder)
        given = _given(decoder, converted, captured.example_inputs)
        converted.reshape({place: list(tensor.shape) for place, tensor in given.items()})
        openvino.save_model(converted, path, compress_to_fp16=False)
    except Exception as error:  # whatever the converter raises
        return ExportRun(Stage.CONVERSION, told(error)), {}
    calls = Counter(each.get_type_name() for each in converted.get_ops())
    operators = sorted((name, n) for name, n in calls.items() if name not in _NO_CALLS)
    return ExportRun(Stage.PROVED, operators=tuple(operators)), given


def _given(decoder: Any, converted: Any, inputs: Any) -> dict[int, Tensor]:
    """Input of the converted model -> what it is given; the converter drops what nothing reads."""
    leaves = pytree.tree_leaves(inputs)
    named = {decoder.get_input_signature_name(i): leaf for i, leaf in enumerate(leaves)}
    found = (named[each.get_node().friendly_name] for each in converted.inputs)
    return {i: _paired(tensor.detach()).contiguous() for i, tensor in enumerate(found)}


def _paired(tensor: Tensor) -> Tensor:
    """Complex numbers as the converter has them: pairs of real ones."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def told(error: BaseException) -> str:
    """The exception's type and the first line that is of this error alone."""
    text = str(error).replace("[PyTorch Frontend] ", "")
    lines = [line.strip().removeprefix("-- ") for line in text.splitlines()]
    own = [
        line.replace(" with a message:", ":")
        for line in lines
        if line and not line.startswith(_FRAME)
    ]
    return f"{type(error).__name__}: {' '.join(own or lines)[:300]}"


@functools.cache
def _core() -> Any:
    """The runtime, whose plugins take a while to load."""
    import openvino

    return openvino.Core()


def _results(path: str, given: Mapping[int, Tensor]) -> list[Tensor]:
    options = {
        "INFERENCE_PRECISION_HINT": "f32",  # bfloat16 is the default where a CPU has it
        "INFERENCE_NUM_THREADS": int(os.environ.get("OMP_NUM_THREADS", "0") or 0),
    }
    compiled = _core().compile_model(path, _DEVICE, options)
    ran = compiled.create_infer_request()
    ran.infer({place: _as_given(tensor) for place, tensor in given.items()})
    return [_as_torch(ran.get_output_tensor(place)) for place in range(len(compiled.outputs))]


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
