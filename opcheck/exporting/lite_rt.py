"""A model that ``torch.export`` captured, converted by litert-torch, run by LiteRT, and compared.

Nothing here looks at the database: what happens is what the libraries do. Modules of litert-torch
used here that are not its public API, checked on 0.10.0: ``backend.export_utils``, of which come
the names that inputs and outputs have in the file.
"""

import functools
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
from opcheck.exporting.captured import captured, not_captured, ran, with_shapes
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import ExportRun, Stage
from opcheck.source.building.torchvision_operators import open_sizes

FILE = "model.tflite"
"""What a model is called that is not kept."""
LIBRARIES = ("litert_torch", "ai_edge_litert")
"""What converting and running takes, beside torch."""
_SIGNATURE = "serving_default"
_DELEGATE = "DELEGATE"
"""What the runtime puts in place of calls that XNNPACK takes; these are listed beside it."""
_NARROWED = {torch.int64: torch.int32, torch.float64: torch.float32}
"""What a file has for dtypes of 64 bits, unless a converter is asked for ``enable_x64``."""


def require_installed() -> None:
    """Refuse where a library is missing.

    Raises:
        UsageError: it is not installed.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise UsageError(
                Sentence("{text} is not installed, and converting for it takes it", text=name),
                Sentence("install what it takes: pip install 'opcheck[{name}]'", name="litert"),
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
    """Convert a model and save it as ``path``; ``run`` it too, and compare with PyTorch.

    ``marked``: dimensions that have no size of their own in the file; it is run with others too.
    """
    versions = tuple((name, version(name.replace("_", "-"))) for name in ("torch", *LIBRARIES))
    started = time.perf_counter()
    given = (tuple(args), dict(kwargs))
    with outputs.quiet(), torch.no_grad(), open_sizes():
        found, graph = _exported(model, *given, path, marked)
        seconds = time.perf_counter() - started
        if graph is not None:
            found = _listed(found, path)
            if run:
                found = ran(found, model, given, marked, _session(path, graph), outputs.told)
    return replace(found, versions=versions, seconds=seconds)


def _exported(
    model: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    path: str,
    marked: Sequence[DynamicInput],
) -> tuple[ExportRun, Any]:
    """What became of the conversion, and the graph that was captured; None where it ended."""
    import litert_torch

    try:
        graph = captured(model, args, kwargs, marked)
    except UsageError:
        raise
    except Exception as error:  # whatever the model's code raises while it is captured
        return not_captured(error, model), None
    try:
        given, named, shapes = with_shapes(model, args, kwargs, marked)
        converted = litert_torch.convert(model, given, named, dynamic_shapes=shapes)
        converted.export(path)
    except Exception as error:  # whatever the converter raises
        return ExportRun(Stage.CONVERSION, told(error)), None
    return ExportRun(Stage.PROVED), graph


def told(error: BaseException) -> str:
    """The exception's type, and what it says beside the places in files and the MLIR."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    own = [line for line in lines if "error: " in line] or lines[:1]
    text = " ".join(line.rpartition("error: ")[2] for line in own[:2])
    return f"{type(error).__name__}: {text[:300]}"


def _listed(found: ExportRun, path: str) -> ExportRun:
    """With the operators of the file, as the runtime names them; none where it refuses the file."""
    try:
        details = _interpreter(path)._get_ops_details()
    except Exception:  # the run tells why
        return found
    calls = Counter(each["op_name"] for each in details if each["op_name"] != _DELEGATE)
    return replace(found, operators=tuple(sorted(calls.items())))


def _interpreter(path: str) -> Any:
    from ai_edge_litert.interpreter import Interpreter

    return Interpreter(
        model_path=path, num_threads=1, experimental_default_delegate_latest_features=True
    )


def _session(path: str, graph: Any) -> Callable[[Any], list[Tensor]]:
    """What runs the file on inputs of the model; loaded at the first call."""
    runner = functools.cache(lambda: _interpreter(path).get_signature_runner(_SIGNATURE))
    return lambda inputs: _results(runner(), graph, inputs)


def _results(runner: Any, graph: Any, inputs: tuple[Any, Any]) -> list[Tensor]:
    args, kwargs = inputs
    details = runner.get_input_details()
    names = (*(f"args_{name}" for name in _names(args)), *_names(kwargs))
    leaves = pytree.tree_leaves((tuple(args), dict(kwargs)))
    given = {
        name: _as_given(leaf, details[name]["dtype"])
        for name, leaf in zip(names, leaves, strict=True)
        if name in details
    }
    got = runner(**given)
    wanted = [node.meta["val"].dtype for node in _outputs(graph)]
    order = _output_names(graph, len(wanted))
    both = zip(order, wanted, strict=True)
    return [_as_torch(got[name], dtype) for name, dtype in both]


def _names(values: Any) -> Sequence[str]:
    """What litert-torch calls the leaves of a container."""
    from litert_torch.backend import export_utils

    spec = pytree.tree_flatten(values)[1]
    names: list[str] = export_utils.flat_dict_names(export_utils.get_children(spec), spec.context)
    return names


def _outputs(graph: Any) -> list[Any]:
    """The nodes of a captured graph that the user is given."""
    own = set(graph.graph_signature.user_outputs)
    (last,) = (node for node in graph.graph.nodes if node.op == "output")
    return [node for node in pytree.tree_leaves(last.args[0]) if getattr(node, "name", "") in own]


def _output_names(graph: Any, count: int) -> Sequence[str]:
    from litert_torch.backend import export_utils

    spec = graph.call_spec.out_spec
    if not spec or not spec.context:
        return [f"output_{place}" for place in range(count)]
    names: list[str] = export_utils.flat_dict_names(export_utils.get_children(spec), spec.context)
    return names


def _as_given(tensor: Any, dtype: Any) -> Any:
    """A tensor as the file takes it: numpy has no bfloat16, and files no 64 bits."""
    given = torch.as_tensor(tensor).detach().resolve_conj().resolve_neg()
    plain = given.float() if given.dtype is torch.bfloat16 else given
    return plain.numpy().astype(dtype)


def _as_torch(got: Any, dtype: torch.dtype) -> Tensor:
    """An output, of the dtype that PyTorch has where the file has 32 bits for its 64.

    Complex numbers are pairs of real ones, as outputs are compared.
    """
    import numpy

    tensor = torch.from_numpy(numpy.array(got))  # a number where there are no dimensions
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return tensor.to(dtype) if tensor.dtype is _NARROWED.get(dtype) else tensor
