"""A model exported by ``torch.onnx``, run by ONNX Runtime on the CPU, and compared with PyTorch.

Nothing here looks at the database: what happens is what the libraries do.
"""

import logging
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Difference
from opcheck.model.exporting import ExportRun, Stage

LIBRARIES = ("onnx", "onnxscript", "onnxruntime")
"""What exporting and running takes, beside torch."""
_PROVIDER = "CPUExecutionProvider"
_WIDE = {torch.bfloat16: torch.float32}
"""What numpy has no dtype for -> what stands for it in a comparison."""
_TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 8e-2, torch.float32: 1e-3, torch.float64: 1e-6}
"""How far an output may be off, of its largest value: runtimes fuse and reorder sums."""


def require_installed() -> None:
    """Refuse where a library is missing.

    Raises:
        UsageError: it is not installed.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise UsageError(
                Sentence("{text} is not installed, and exporting to ONNX takes it", text=name),
                Sentence("install what it takes: pip install 'opcheck[onnx]'"),
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
    """Export a model to ``path``; ``run`` the file too, and compare what it gives with PyTorch."""
    versions = tuple((name, version(name)) for name in ("torch", *LIBRARIES))
    started = time.perf_counter()
    with _quiet(), torch.no_grad():
        found = _exported(model, tuple(args), dict(kwargs), path, opset)
        seconds = time.perf_counter() - started
        if run and found.stage.converted:
            found = _ran(found, model, args, kwargs, path)
    return replace(found, versions=versions, seconds=seconds)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to themselves what exporters and runtimes print: what failed is in the answer."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def _exported(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], path: str, opset: int | None
) -> ExportRun:
    try:
        captured = torch.export.export(model, args, kwargs, strict=False)
    except Exception as error:  # whatever the model's code raises while it is captured
        return ExportRun(Stage.CAPTURE, _told(error))
    try:
        program = torch.onnx.export(captured, dynamo=True, opset_version=opset, verbose=False)
        assert program is not None
        program.save(path)
    except Exception as error:  # whatever the converter raises
        return ExportRun(Stage.CONVERSION, _told(_root(error)))
    graph = program.model.graph
    calls = Counter(_name(node.domain, node.op_type) for node in graph.all_nodes())
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


def _told(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0].strip()[:300]}"


def _ran(
    found: ExportRun, model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], path: str
) -> ExportRun:
    """The file run on what the model was given, and its outputs beside PyTorch's."""
    import onnxruntime

    wanted, again = _outputs(model, args, kwargs), _outputs(model, args, kwargs)
    given = [t for t in pytree.tree_leaves((tuple(args), dict(kwargs))) if isinstance(t, Tensor)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0") or 0)
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=[_PROVIDER])
        got = _results(session, given)
    except Exception as error:  # whatever the runtime raises
        return replace(found, stage=Stage.RUNTIME, error=_told(error))
    random = any(not _alike(a, b) for a, b in zip(wanted, again, strict=True))
    differences = tuple(_differences(wanted, got))
    off = _off(wanted, got, random=random)
    stage = Stage.VALUES if off else Stage.PROVED
    return replace(found, stage=stage, error=off, differences=differences, random=random)


def _outputs(model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """What PyTorch gives; inputs are copied, for a model may write to them."""
    own = pytree.tree_map_only(Tensor, torch.clone, (tuple(args), dict(kwargs)))
    found = model(*own[0], **own[1])
    return [t for t in pytree.tree_leaves(found) if isinstance(t, Tensor)]


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


def _differences(wanted: Sequence[Tensor], got: Sequence[Tensor]) -> Iterator[Difference]:
    names = [f"output[{i}]" for i in range(len(wanted))] if len(wanted) > 1 else ["output"]
    for name, one, other in zip(names, wanted, got, strict=False):
        dtype = str(one.dtype).removeprefix("torch.")
        yield Difference(name, tuple(one.shape), dtype, _largest(_real(one), other))


def _real(tensor: Tensor) -> Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _largest(one: Tensor, other: Tensor) -> float | None:
    if one.shape != other.shape:
        return None
    left, right = one.double(), other.double()
    apart = (left - right).abs()
    apart[(left == right) | (left.isnan() & right.isnan())] = 0.0
    if not bool(torch.isfinite(apart).all()):
        return None
    return float(apart.max()) if apart.numel() else 0.0


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and _largest(_real(one), _real(other)) == 0.0


def _off(wanted: Sequence[Tensor], got: Sequence[Tensor], *, random: bool) -> str:
    """Say what differs more than rounding does; "" where nothing does."""
    if len(wanted) != len(got):
        return f"{len(got)} outputs, where PyTorch gives {len(wanted)}"
    for place, (one, other) in enumerate(zip(map(_real, wanted), got, strict=True)):
        if one.dtype != other.dtype:
            return f"output {place} is {_dtype(other)}, where PyTorch gives {_dtype(one)}"
        if one.shape != other.shape:
            return f"output {place} is of {_shape(other)}, where PyTorch gives {_shape(one)}"
        largest = _largest(one, other)
        scale = _scale(one)
        if not random and (largest is None or largest > _TOLERANCE.get(one.dtype, 0.0) * scale):
            return f"output {place} is off by {largest}, where the largest value is {scale:g}"
    return ""


def _scale(tensor: Tensor) -> float:
    """The largest finite value, 1 where all are smaller."""
    finite = tensor.double().abs()
    finite = finite[torch.isfinite(finite)]
    return max(1.0, float(finite.max())) if finite.numel() else 1.0


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))
