"""The installed wheel of OpenVINO, asked: which overloads it converts, and what becomes of a call.

``openvino.convert_model`` of an exported program first decomposes it by a table, then looks up each
call that is left in the PyTorch frontend's table of converters; the CPU plugin compiles the result.
Private torch API used here, checked on 2.13.0: ``CustomDecompTable``, the collection of composites.
"""

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import Any

NAMESPACES = ("aten", "prims", "torchvision", "quantized_decomposed")
_UNKNOWN = "No conversion rule found for operations: "
_UNUSED = "is out of bounds of input list"
_FRAME = (
    "Check '", "Exception from ", "FrontEnd API failed", "Model wasn't fully converted", "Summary",
    "Converting ", "Conversion is failed for",
)  # fmt: skip
"""Lines that every error of the library has, whatever went wrong."""
_ONE_THREAD = {
    "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1,
}  # fmt: skip


class Wheel:
    """The PyTorch frontend and the CPU plugin of the installed release."""

    def __init__(self) -> None:
        import openvino
        from openvino.frontend import FrontEndManager

        self._frontend = FrontEndManager().load_by_framework("pytorch")
        self._core = openvino.Core()
        self._core.set_property("CPU", _ONE_THREAD)
        self.table, self._explicit = hasten()
        self.registered = frozenset(self._registered())
        named = {call.name() for call in self.table}
        self.converted = self.registered - named
        """Overloads that reach a converter of their own: what the table has is decomposed."""

    def _registered(self) -> Iterator[str]:
        """Overloads that the frontend has a converter for, each asked in a graph of its own."""
        for call in overloads():
            if any(_UNKNOWN not in self._refusal(_graph(call, many)) for many in (False, True)):
                yield call.name()

    def _refusal(self, graph: Any) -> str:
        import torch

        try:
            self._convert(torch.fx.GraphModule(torch.nn.Module(), graph))
        except Exception as error:  # whatever a converter raises of a call without arguments
            return str(error)
        return ""

    def _convert(self, module: Any) -> Any:
        from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

        decoder = TorchFXPythonDecoder(module, dynamic_shapes=True)  # kept until it is converted
        return self._frontend.convert(self._frontend.load(decoder))

    def parts(self, call: Any, args: Any, kwargs: Any) -> Any:
        """Run what a call is decomposed into; NotImplemented where nothing takes it apart."""
        if call in self.table:
            return self.table[call](*args, **kwargs)
        return call.decompose(*args, **kwargs) if call._can_decompose() else NotImplemented

    def lowered(self, call: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        """What becomes of one call: where it ends, and why."""
        found = self._lowered(*_module(call, args, kwargs))
        if _UNUSED in found.get("error", ""):  # a result that models leave unused, as layer_norm's
            return self._lowered(*_module(call, args, kwargs, first=True))
        return found

    def _lowered(self, module: Any, tensors: tuple[Any, ...]) -> dict[str, Any]:
        import torch

        try:
            program = torch.export.export(module, tensors, strict=False)
            if not self._taken(program.graph):
                program = program.run_decompositions(dict(self._explicit))
        except Exception as error:  # whatever the call raises while it is captured
            return {"stage": "capture", "error": _first_line(error)}
        try:
            model = self._convert(program.module())
            if len(model.inputs) == len(tensors):  # what nothing reads is dropped
                model.reshape({i: list(tensor.shape) for i, tensor in enumerate(tensors)})
        except Exception as error:  # whatever a converter raises
            return {"stage": "conversion", **_why(str(error))}
        try:
            self._core.compile_model(model, "CPU")
        except Exception as error:  # whatever the plugin raises
            return {"stage": "runtime", "error": _cause(str(error))}
        return {"stage": "ok"}

    def _taken(self, graph: Any) -> bool:
        """Whether each call of a graph has a converter, so that nothing is to be decomposed."""
        calls = [node.target for node in graph.nodes if node.op == "call_function"]
        return all(not hasattr(call, "_schema") or call.name() in self.converted for call in calls)


def _graph(call: Any, many: bool) -> Any:
    """A graph of one call; with ``many`` of the arguments that index_put is converted with."""
    import torch

    graph = torch.fx.Graph()
    given = graph.placeholder("given")
    graph.output((graph.call_function(call, (given, [given], given) if many else (given,)),))
    return graph


def _why(text: str) -> dict[str, Any]:
    """The overloads without a converter, and else the text of the check that failed."""
    _, found, rest = text.partition(_UNKNOWN)
    missing = rest.splitlines()[0].split(", ") if found else []
    return {"missing": sorted(missing), "error": "" if found else _cause(text)}


def _cause(text: str) -> str:
    """The lines that are of this error alone."""
    lines = [line.strip().removeprefix("-- ") for line in text.splitlines()]
    return " / ".join(line for line in lines if line and not line.startswith(_FRAME))[:500]


def overloads() -> Iterator[Any]:
    """Every overload that models call, and the parts that others are decomposed into."""
    import torch
    import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
    import torchvision  # noqa: F401  # registers its operators

    for schema in torch._C._jit_get_all_schemas():
        namespace, _, base = schema.name.partition("::")
        if namespace in NAMESPACES and schema.overload_name != "from":  # a word of Python's
            packet = getattr(getattr(torch.ops, namespace), base, None)
            call = getattr(packet, schema.overload_name or "default", None)
            if call is not None:
                yield call


def _table() -> tuple[Mapping[Any, Any], tuple[Any, ...]]:
    """What ``convert_model`` decomposes an exported program by, and what that leaves out."""
    from torch.export import default_decompositions

    try:
        kept = import_module("openvino.frontend.pytorch.torchdynamo.export_decompositions")
    except ImportError:  # before 2026.2
        kept = import_module("openvino.frontend.pytorch.torchdynamo.decompositions")
    found = dict(default_decompositions().items())
    left = tuple(kept.ops_to_not_decompose())
    for call in left:
        found.pop(call, None)
    return found, tuple(call for call in left if call._can_decompose())


def _module(call: Any, args: Any, kwargs: Any, first: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """A model of one call and its inputs; complex numbers enter and leave as pairs of real ones."""
    import torch
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    class Module(torch.nn.Module):
        def forward(self, *tensors: Any) -> Any:
            given = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                pairs = leaves[place].is_complex()
                given[place] = torch.view_as_complex(tensor) if pairs else tensor
            args, kwargs = pytree.tree_unflatten(given, spec)
            result = call(*args, **kwargs)
            return pytree.tree_map_only(torch.Tensor, _real, result[0] if first else result)

    return Module(), tuple(_real(leaves[place]).contiguous() for place in places)


def _real(tensor: Any) -> Any:
    import torch

    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:220]}"


def hasten() -> tuple[Mapping[Any, Any], Mapping[Any, Any]]:
    """Have conversions take a fraction of the time; give the table, and what is left of it.

    What the converter preserves stays, and what the table has is decomposed, as without this.
    """
    from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

    table, preserved = _table()
    composites = _have_preserved(preserved)
    explicit = {call: run for call, run in table.items() if call not in composites}
    TorchFXPythonDecoder._decomp_table = explicit
    return table, explicit


def _have_preserved(calls: Collection[Any]) -> Collection[Any]:
    """Have exports preserve these composites alone; give all of them.

    The dispatcher decomposes the others in the same way, which is much sooner done.
    """
    names = ("torch._export.utils", "torch.export.decomp_utils", "torch.export.exported_program")
    modules: tuple[Any, ...] = tuple(map(import_module, names))
    found: Collection[Any] = modules[0]._collect_all_valid_cia_ops()
    for module in modules:
        if hasattr(module, "_collect_all_valid_cia_ops"):
            module._collect_all_valid_cia_ops = lambda: set(calls)
    return found
