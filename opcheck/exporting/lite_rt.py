"""A model that ``torch.export`` captured, converted by litert-torch, run by LiteRT, and compared.

Modules of litert-torch
used here that are not its public API, checked on 0.10.0: ``backend.export_utils``, of which come
the names that inputs and outputs have in the file.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.exporting.captured import with_shapes
from opcheck.exporting.exporter import Asked, Exporter, Session
from opcheck.model.exporting import ExportRun, Stage

_SIGNATURE = "serving_default"
_DELEGATE = "DELEGATE"
"""What the runtime puts in place of calls that XNNPACK takes; these are listed beside it."""
_NARROWED = {torch.int64: torch.int32, torch.float64: torch.float32}
"""What a file has for dtypes of 64 bits, unless a converter is asked for ``enable_x64``."""


class LiteRt(Exporter):
    """Converts by litert-torch, and runs by LiteRT's interpreter."""

    extra = "litert"
    file = "model.tflite"
    libraries = ("litert_torch", "ai_edge_litert")

    def written(
        self, graph: torch.export.ExportedProgram, asked: Asked
    ) -> tuple[ExportRun, Session | None]:
        """Convert the model, which the library captures itself, and write it.

        ``graph`` is the one that opcheck captured, of which the outputs' names are.
        """
        import litert_torch

        given, named, shapes = with_shapes(asked.model, asked.args, asked.kwargs, asked.marked)
        converted = litert_torch.convert(asked.model, given, named, dynamic_shapes=shapes)
        converted.export(asked.path)
        found = ExportRun(Stage.PROVED, operators=_operators(asked.path))
        return found, _session(asked.path, graph)

    def told(self, error: BaseException) -> str:
        """The exception's type, and what it says beside the places in files and the MLIR."""
        lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
        own = [line for line in lines if "error: " in line] or lines[:1]
        text = " ".join(line.rpartition("error: ")[2] for line in own[:2])
        return f"{type(error).__name__}: {text[:300]}"


def _operators(path: str) -> tuple[tuple[str, int], ...]:
    """Those of the file, as the runtime names them; none where it refuses the file."""
    try:
        details = _interpreter(path)._get_ops_details()
    except Exception:  # the run tells why
        return ()
    calls = Counter(each["op_name"] for each in details if each["op_name"] != _DELEGATE)
    return tuple(sorted(calls.items()))


def _interpreter(path: str) -> Any:
    from ai_edge_litert.interpreter import Interpreter

    return Interpreter(
        model_path=path, num_threads=1, experimental_default_delegate_latest_features=True
    )


def _session(path: str, graph: Any) -> Session:
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
