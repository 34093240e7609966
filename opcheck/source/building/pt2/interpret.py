"""Runs an exported graph node by node from its JSON; calls operators and nothing else."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.pt2.operators import Operators
from opcheck.source.pt2.stack_trace import NOWHERE, Place, module_path
from opcheck.source.pt2.targets import PYTHON
from opcheck.source.pt2.values import DTYPES, LAYOUTS, MEMORY_FORMATS, by_name, variant

Graph = Mapping[str, Any]
Env = dict[str, Any]
"""What every name in a graph stands for in this run."""


class Interpreter:
    """One run of an exported program.

    Each operator is called from within the module that it belonged to, and from a frame at the
    file and line that the export noted, so that whoever watches the run sees the model's own.
    """

    def __init__(
        self,
        operators: Operators,
        scope: Callable[[str], nn.Module | None],
        places: Mapping[str, Place],
        devices: Mapping[str, torch.device],
    ) -> None:
        """``scope`` gives the module of a path, ``devices`` what a device in the file is here."""
        self._operators = operators
        self._scope = scope
        self._places = places
        self._devices = devices

    def run(self, graph: Graph, env: Env) -> Any:
        """Run the nodes of one graph on the inputs in ``env``, and give its outputs."""
        for node in graph["nodes"]:
            self._node(node, graph, env)
        outputs = tuple(self._argument(output, env) for output in graph["outputs"])
        return outputs[0] if graph.get("is_single_tensor_return") else outputs

    def _node(self, node: Mapping[str, Any], graph: Graph, env: Env) -> None:
        function = self._operators.find(node["target"])
        inputs, metadata = node["inputs"], node["metadata"]
        # Python's own functions take theirs by position, whatever the file calls them
        named = [] if node["target"] in PYTHON else [item for item in inputs if by_name(item)]
        args = [self._argument(item["arg"], env) for item in inputs if item not in named]
        kwargs = {item["name"]: self._argument(item["arg"], env) for item in named}
        self._operators.check_call(function, args, kwargs)
        call: Callable[[], Any] = partial(function, *args, **kwargs)
        module = self._scope(module_path(metadata.get("nn_module_stack", "")))
        if module is not None:
            call = partial(module, function, args, kwargs)
        place = self._places.get(metadata.get("stack_trace", ""), NOWHERE)
        with self._operators.running(node, graph):
            result = _frame(place)(call)
        _bind(node["outputs"], result, env)

    def _argument(self, argument: Mapping[str, Any], env: Env) -> Any:
        """What an argument of a node is in this run."""
        kind, payload = variant(argument)
        match kind:
            case "as_tensor":
                return env[payload["name"]]
            case "as_tensors":
                return [env[item["name"]] for item in payload]
            case "as_nested_tensors":
                return [[env[item["name"]] for item in row] for row in payload]
            case "as_optional_tensor":
                return _optional(payload, env)
            case "as_optional_tensors":
                return [_optional(item, env) for item in payload]
            case "as_sym_int" | "as_sym_float" | "as_sym_bool":
                return _number(payload, env)
            case "as_sym_ints" | "as_sym_floats" | "as_sym_bools":
                return [_number(item, env) for item in payload]
            case "as_graph":
                return partial(self._subgraph, payload["graph"])
            case "as_operator":
                return self._operators.find(payload)
            case "as_string_to_argument":
                return {key: self._argument(item, env) for key, item in payload.items()}
            case "as_device":
                name: str = payload["type"]
                return self._devices.get(name) or torch.device(name)
            case _:
                return _literal(kind, payload)

    def _subgraph(self, graph: Graph, *operands: Any) -> Any:
        return self.run(graph, dict(zip(input_names(graph), operands, strict=True)))


def input_names(graph: Graph) -> tuple[str, ...]:
    """What the graph calls its inputs; a constant has no name and gets its position."""
    return tuple(_input_name(item, index) for index, item in enumerate(graph["inputs"]))


def _input_name(argument: Mapping[str, Any], index: int) -> str:
    kind, payload = variant(argument)
    match kind:
        case "as_tensor" | "as_custom_obj":
            return str(payload["name"])
        case "as_sym_int" | "as_sym_float" | "as_sym_bool":
            return str(variant(payload)[1])
        case _:
            return str(index)


def _optional(union: Mapping[str, Any], env: Env) -> Any:
    kind, payload = variant(union)
    if kind == "as_none":
        return None
    return env[payload if isinstance(payload, str) else payload["name"]]


def _number(union: Mapping[str, Any], env: Env) -> Any:
    kind, payload = variant(union)
    return env[payload] if kind == "as_name" else payload


def _literal(kind: str, payload: Any) -> Any:
    match kind:
        case "as_none":
            return None
        case "as_float":
            return float(payload)  # inf and nan are written as text
        case "as_floats":
            return [float(item) for item in payload]
        case "as_complex":
            return complex(float(payload["real"]), float(payload["imag"]))
        case "as_scalar_type":
            return getattr(torch, DTYPES[payload])
        case "as_memory_format":
            return getattr(torch, MEMORY_FORMATS[payload])
        case "as_layout":
            return getattr(torch, LAYOUTS[payload])
        case _ if kind in _PLAIN:
            return payload
        case _:
            raise SourceError(Sentence("the graph cannot be run: {kind} is no argument", kind=kind))


_PLAIN = frozenset(
    {"as_int", "as_ints", "as_bool", "as_bools", "as_string", "as_strings", "as_int_lists",
     "as_float_lists"}
)  # fmt: skip
"""What JSON has as Python has it."""
_NUMBERS = (int, float, complex, torch.SymInt, torch.SymFloat, torch.SymBool)


def _frame(place: Place) -> Callable[[Callable[[], Any]], Any]:
    """A function that calls what it is given, from a frame at ``place``."""
    code = (lambda call: call()).__code__
    if place != NOWHERE:
        code = code.replace(co_filename=place[0], co_firstlineno=place[1])
    return FunctionType(code, {})


def _bind(outputs: Iterable[Mapping[str, Any]], result: Any, env: Env) -> None:
    """Store a node's results under the names that the graph gives them: tensors and numbers."""
    named = [one for output in outputs for one in _outputs(output)]
    if not named:
        return
    for (name, kind), value in zip(named, _flat(result), strict=True):
        if name and not isinstance(value, kind):
            raise SourceError(
                Sentence(
                    "the graph cannot be run: {name} is a {kind}",
                    name=name,
                    kind=type(value).__name__,
                )
            )
        env[name] = value


def _outputs(output: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each name that an output defines, and the types of what may stand for it."""
    kind, payload = variant(output)
    match kind:
        case "as_tensor":
            yield payload["name"], Tensor
        case "as_tensors":
            for item in payload:
                yield item["name"], Tensor
        case "as_sym_int" | "as_sym_float" | "as_sym_bool":
            held, name = variant(payload)
            yield (name if held == "as_name" else ""), _NUMBERS
        case _:
            yield "", object  # nothing there that another node could use


def _flat(result: Any) -> Iterator[Any]:
    if isinstance(result, (list, tuple)):
        for item in result:
            yield from _flat(item)
    else:
        yield result


def first_device(values: Iterable[Any]) -> torch.device | None:
    """The device of the first tensor that is not on the host."""
    devices = (value.device for value in values if isinstance(value, Tensor))
    return next((device for device in devices if device.type not in ("cpu", "meta")), None)
