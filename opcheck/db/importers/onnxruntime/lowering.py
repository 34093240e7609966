"""What torch.onnx writes for one call of each overload, in each dtype: nothing is run.

``python -m opcheck.db.importers.onnxruntime.lowering FILE.json`` takes the calls that PyTorch's own
samples make, and notes for each the operators of ONNX that its converter gives, with their dtypes.
A number after the file says how many calls of an overload and dtype are noted.
Private torch API used here, checked on 2.13.0: ``torch.onnx._internal.exporter``.
"""

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

OPSET = 20
"""The version of ONNX's operators that torch.onnx 2.13 writes where none is asked for."""
OPSETS = range(18, 25)
"""Those that it writes."""
_DTYPES = (
    "float32", "float16", "int64", "bfloat16", "float64", "int32", "bool", "uint8", "complex64",
    "int16", "int8",
)  # fmt: skip
_SAMPLES, _CALLS, _MORE, _TRIES = 4, 2, 24, 5
"""Samples of an operator that are looked at, calls of an overload that are noted a dtype, samples
that are looked at for a call that comes through, where none of those did, and how many are tried.
"""
NOTHING = frozenset({"Identity", "Constant"})
"""What a call comes to that has nothing to do, as the sum of a tensor without dimensions."""


class Converter:
    """The registry of converters and the table of decompositions, made once."""

    def __init__(self) -> None:
        from torch.onnx._internal.exporter import _decomp, _registration

        self.registry = _registration.ONNXRegistry.from_torchlib(OPSET)
        self.named = {key for key in self.registry.functions if isinstance(key, str)}
        known = set(_decomp.get_onnx_implemented_overloads(self.registry))
        self.table: Any = _decomp.create_onnx_friendly_decomposition_table(known)

    def taken(self, graph: Any) -> bool:
        """Whether each call of a graph has a converter, so that nothing is to be decomposed."""
        calls = [node.target for node in graph.nodes if node.op == "call_function"]
        return all(not hasattr(call, "_schema") or call.name() in self.named for call in calls)

    def lowered(self, call: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        """What becomes of one call: where it ends, and the operators of ONNX."""
        import torch
        from torch.onnx._internal.exporter import _core

        module, tensors = _module(call, args, kwargs)
        try:
            program = torch.export.export(module, tensors, strict=False)
        except Exception as error:  # whatever the call raises while it is captured
            return {"stage": "capture", "error": _first_line(error)}
        try:
            found = _core.export(program, registry=self.registry, opset_version=OPSET)
        except Exception as error:  # whatever a converter raises
            while error.__cause__ is not None:
                error = error.__cause__  # type: ignore[assignment]  # raised by libraries' code
            return {"stage": "conversion", "error": _first_line(error)}
        nodes = _nodes(found.model.graph)
        found.optimize()
        return {"stage": "ok", "nodes": nodes, "file": _kept(found.model.graph)}


def _module(call: Any, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
    import torch
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    class Module(torch.nn.Module):
        def forward(self, *tensors: Any) -> Any:
            given = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                given[place] = tensor
            args, kwargs = pytree.tree_unflatten(given, spec)
            return call(*args, **kwargs)

    return Module(), tuple(leaves[place] for place in places)


def _nodes(graph: Any) -> list[list[Any]]:
    """Operator of ONNX, dtypes that it takes and gives; "" of an input that is left out."""
    found: list[list[Any]] = []
    for node in graph.all_nodes():
        name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
        given = ["" if value is None else _dtype(value) for value in node.inputs]
        line = [name, given, [_dtype(value) for value in node.outputs]]
        if line not in found:
            found.append(line)
    return found


def _kept(graph: Any) -> list[list[Any]]:
    """What is left after constants were folded, as in a file.

    Beside each stand where its inputs are from (the place of a line here, ``-1`` of an input of the
    graph, ``-2`` of a constant), and what its attributes say in numbers and texts.
    """
    every = list(graph.all_nodes())
    places = {id(value): place for place, node in enumerate(every) for value in node.outputs}
    inputs = set(map(id, graph.inputs))
    return [
        [
            f"{node.domain}::{node.op_type}" if node.domain else node.op_type,
            ["" if value is None else _dtype(value) for value in node.inputs],
            [_dtype(value) for value in node.outputs],
            [places.get(id(value), -1 if id(value) in inputs else -2) for value in node.inputs],
            {
                name: said.value
                for name, said in node.attributes.items()
                if isinstance(said.value, (int, str))
            },
        ]
        for node in every
    ]


def _dtype(value: Any) -> str:
    return "?" if value.dtype is None else str(value.dtype)


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:220]}"


def calls(converter: Converter, samples: slice) -> Iterator[tuple[Any, Any, Any]]:
    """Every call that these samples make, as a converter would be asked for it."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        for name in _DTYPES:
            dtype = getattr(torch, name)
            if dtype not in info.dtypes:
                continue
            try:
                taken = info.sample_inputs("cpu", dtype, requires_grad=False)
                known = [sample for _, sample in zip(range(samples.stop), taken, strict=False)]
            except Exception:  # PyTorch has no sample of it here
                continue
            for sample in known[samples.start :]:
                yield from _seen(converter, info.op, sample)


def own_calls() -> Iterator[tuple[Any, Any, Any]]:
    """Calls that models make and no sample of PyTorch does, in float32 and float16."""
    import torch

    aten: Any = torch.ops.aten  # calls and packets of them
    for dtype in (torch.float32, torch.float16):
        for count, layer, call in (
            (1, torch.nn.LSTM(3, 4), aten.lstm.input),
            (0, torch.nn.GRU(3, 4), aten.gru.input),
        ):
            state = torch.zeros(1, 2, 4, dtype=dtype)
            weights = [each.detach().to(dtype) for each in layer.parameters()]
            given = (torch.ones(5, 2, 3, dtype=dtype), [state, state] if count else state, weights)
            yield call, (*given, True, 1, 0.0, False, False, False), {}
        for dims, call in enumerate(
            (aten.upsample_nearest1d, aten.upsample_nearest2d, aten.upsample_nearest3d), 1
        ):
            image = torch.ones(1, 2, *[4] * dims, dtype=dtype)
            yield call.vec, (image, None, [2.0] * dims), {}
        query = torch.ones(1, 2, 3, 4, dtype=dtype)
        yield aten.scaled_dot_product_attention.default, (query, query, query), {}
        yield aten.scatter.value, (query[0, 0], 0, torch.zeros(1, 2, dtype=torch.int64), 2.0), {}


def _seen(converter: Converter, function: Any, sample: Any) -> list[tuple[Any, Any, Any]]:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    found: list[tuple[Any, Any, Any]] = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            taken = func.name() in converter.named
            if not taken and func not in converter.table and func._can_decompose():
                with self:
                    result = func.decompose(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            found.append((func, _copied(args), _copied(kwargs)))
            if not taken and func in converter.table:
                try:
                    with self:
                        return converter.table[func](*args, **kwargs)
                except Exception:  # it is the sample's: what it calls was noted
                    pass
            return func(*args, **kwargs)

    refused = suppress(Exception)  # a sample that PyTorch refuses; the calls before it count
    seen: Any = Seen  # torch has no types of it
    with refused, torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), seen():
        function(sample.input, *sample.args, **sample.kwargs)
    return found


def _copied(value: Any) -> Any:
    import torch
    from torch.utils import _pytree as pytree

    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), value)


def _given(args: Any, kwargs: Any) -> str:
    """The dtype of the first tensor; "" where there is none."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves((args, kwargs))
    first = next((leaf for leaf in leaves if isinstance(leaf, torch.Tensor)), None)
    return "" if first is None else str(first.dtype).removeprefix("torch.")


def main() -> None:
    """Write the file."""
    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    most = int(sys.argv[2]) if sys.argv[2:] else _CALLS
    converter, found = Converter(), dict[tuple[str, str], list[dict[str, Any]]]()
    _have_kept(converter)
    for call, args, kwargs in calls(converter, slice(-_CALLS, _SAMPLES)):
        noted = found.setdefault((call.name(), _given(args, kwargs)), [])
        if len(noted) < most:
            noted.append(_lowered(converter, call, args, kwargs))
    note_others(converter, found)
    for call, args, kwargs in own_calls():
        noted = found.setdefault((call.name(), _given(args, kwargs)), [])
        noted.append(_lowered(converter, call, args, kwargs))
    data = {
        "reg": sorted(converter.named),
        "table": sorted(call.name() for call in converter.table),
        "out": [[op, dtype, noted] for (op, dtype), noted in found.items()],
    }
    Path(sys.argv[1]).write_text(json.dumps(data), encoding="utf-8")


def note_others(converter: Converter, found: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    """Note one more call of what never came through, or gave nothing, where a sample makes one.

    The first samples of PyTorch are often of no dimension or of no elements.
    """
    left = {key: _TRIES for key, noted in found.items() if all(map(_says_nothing, noted))}
    for call, args, kwargs in calls(converter, slice(0, _MORE)):
        key = (call.name(), _given(args, kwargs))
        if key in left:
            said = _lowered(converter, call, args, kwargs)
            left[key] -= 1
            if not _says_nothing(said):
                found[key].insert(0, said)
            if not _says_nothing(said) or not left[key]:
                del left[key]


def _says_nothing(said: dict[str, Any]) -> bool:
    """Whether a call did not come through, or left its tensors as they are."""
    return said["stage"] != "ok" or all(node[0] in NOTHING for node in said["file"])


def _lowered(converter: Converter, call: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """What becomes of a call, without what the libraries print."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return converter.lowered(call, args, kwargs)


def _have_kept(converter: Converter) -> None:
    """Spare each export the search for composites and the table, which are always the same."""
    import functools

    exporter = "torch.onnx._internal.exporter"
    names = (
        "torch._export.utils", "torch.export.decomp_utils", "torch.export.exported_program",
        f"{exporter}._decomp", f"{exporter}._fx_passes",
    )  # fmt: skip
    modules: tuple[Any, ...] = tuple(map(import_module, names))
    utils, decomp_utils, exported_program, _decomp, _fx_passes = modules
    composites = functools.cache(utils._collect_all_valid_cia_ops)
    for module in (utils, decomp_utils, exported_program):
        if hasattr(module, "_collect_all_valid_cia_ops"):
            module._collect_all_valid_cia_ops = lambda: set(composites())
    utils._is_preservable_cia_op = functools.cache(utils._is_preservable_cia_op)
    _decomp.create_onnx_friendly_decomposition_table = lambda _: dict(converter.table)
    decomposed = _fx_passes.decompose_with_registry

    def unless_taken(program: Any, registry: Any) -> Any:
        return program if converter.taken(program.graph) else decomposed(program, registry)

    _fx_passes.decompose_with_registry = unless_taken


if __name__ == "__main__":
    main()
