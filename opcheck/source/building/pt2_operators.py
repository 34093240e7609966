"""Targets of exported nodes as something to call, without importing what the file names."""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor

from opcheck.errors import SourceError
from opcheck.model.names import OpName
from opcheck.model.trace import TensorMeta, Value
from opcheck.source.building.library import import_library
from opcheck.source.pt2_nodes import HIGHER_ORDER, by_name, operator_name
from opcheck.source.pt2_values import GraphValues, variant

PYTHON: Mapping[str, Callable[..., Any]] = {
    **{
        f"_operator.{name}": getattr(operator, name)
        for name in (
            "eq", "ne", "le", "ge", "lt", "gt", "neg", "pos", "mul", "add", "sub", "floordiv",
            "mod", "pow", "truediv", "and_", "or_", "lshift", "rshift", "not_",
        )
    },
    **{f"math.{name}": getattr(math, name) for name in ("trunc", "floor", "ceil", "sqrt")},
    **{
        f"torch.{name}": getattr(torch, name)
        for name in (
            "sym_not", "sym_int", "sym_float", "sym_ite", "sym_max", "sym_min", "sym_sqrt",
            "sym_sum", "_sym_sqrt",
        )
        if hasattr(torch, name)
    },
    "torch.ops.aten.sym_size.int": Tensor.size,
    "torch.ops.aten.sym_stride.int": Tensor.stride,
    "torch.ops.aten.sym_numel.default": Tensor.numel,
    "torch.ops.aten.sym_storage_offset.default": Tensor.storage_offset,
    "torch.ops.aten.sym_is_contiguous.default": Tensor.is_contiguous,
}  # fmt: skip
"""What torch.export writes (torch 2.13) that computes on Python numbers, or reads them from a
tensor: no device is asked."""

_TYPES: Mapping[str, str] = {
    "as_tensor": "Tensor", "as_tensors": "Tensor[]", "as_optional_tensor": "Tensor?",
    "as_optional_tensors": "Tensor?[]", "as_int": "SymInt", "as_ints": "SymInt[]",
    "as_sym_int": "SymInt", "as_sym_ints": "SymInt[]", "as_float": "float",
    "as_floats": "float[]", "as_sym_float": "float", "as_bool": "bool", "as_bools": "bool[]",
    "as_sym_bool": "SymBool", "as_string": "str", "as_strings": "str[]",
    "as_scalar_type": "ScalarType", "as_memory_format": "MemoryFormat", "as_layout": "Layout",
    "as_device": "Device", "as_complex": "Scalar",
}  # fmt: skip
"""Schema type of an argument, by how the file holds it."""


_LIBRARIES = frozenset({"torchvision"})
"""Namespaces of operators that the library of the same name brings, rules and all."""


class Operators:
    """Finds what a node calls; operators of libraries that are not here are declared from use."""

    def __init__(self, nodes: Iterable[Mapping[str, Any]], values: GraphValues) -> None:
        self._values = values
        self._library_of: dict[str, torch.library.Library] = {}
        self._known: dict[str, Callable[..., Any]] = dict(PYTHON)
        self._running: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
        self.declared: dict[str, None] = {}
        """Operators that this process has no library for, by name."""
        uses: dict[str, list[Mapping[str, Any]]] = {}
        for node in nodes:
            uses.setdefault(node["target"], []).append(node)
        for target, calls in uses.items():
            op = operator_name(target)
            if op is not None and target not in PYTHON:
                _import_library(op.namespace)
                found = _registered(op)
                self._known[target] = found or self._declare(op, calls)

    def find(self, target: str) -> Callable[..., Any] | None:
        """What a node with that target calls; None where it is nothing that may be called."""
        return self._known.get(target)

    @contextmanager
    def running(self, node: Mapping[str, Any], graph: Mapping[str, Any]) -> Iterator[None]:
        """Have a declared operator return what the file says of ``node``, a node of ``graph``."""
        outer, self._running = self._running, (node, graph)
        try:
            yield
        finally:
            self._running = outer

    def _declare(self, op: OpName, calls: Sequence[Mapping[str, Any]]) -> Callable[..., Any]:
        library = self._library_of.get(op.namespace)
        if library is None:
            library = torch.library.Library(op.namespace, "FRAGMENT")
            self._library_of[op.namespace] = library
        name = f"{op.base}.{op.overload}" if op.overload else op.base
        library.define(f"{name}{_schema(calls)}")
        library.impl(name, self._recorded, "Meta")
        self.declared[str(op)] = None
        declared = _registered(op)
        if declared is None:
            raise ValueError(f"{op} could not be declared")
        return declared

    def _recorded(self, *_args: Any, **_kwargs: Any) -> Any:
        """What the file says that the running node returns, on meta."""
        node, graph = self._running
        values = self._values.of(graph)
        made = [_on_meta(values.read(output)) for output in node["outputs"]]
        return made[0] if len(made) == 1 else tuple(made)


def _on_meta(value: Value) -> Any:
    if isinstance(value, tuple):
        return [_on_meta(item) for item in value]
    if not isinstance(value, TensorMeta):
        return value
    dtype = getattr(torch, value.dtype)
    return torch.empty_strided(value.shape, value.stride, dtype=dtype, device="meta")


def _import_library(namespace: str) -> None:
    """Import the library that is known to bring the shape rules of a namespace."""
    if namespace in _LIBRARIES:
        with suppress(SourceError):
            import_library(namespace)


def _registered(op: OpName) -> Callable[..., Any] | None:
    if op.namespace == HIGHER_ORDER:
        return getattr(torch.ops.higher_order, op.base, None)
    packet = getattr(getattr(torch.ops, op.namespace), op.base, None)
    return None if packet is None else getattr(packet, op.overload or "default", None)


def _schema(calls: Sequence[Mapping[str, Any]]) -> str:
    """A schema that every one of the calls fits."""
    types: dict[str, set[str]] = {}
    keyword: dict[str, bool] = {}
    for call in calls:
        for item in call["inputs"]:
            types.setdefault(item["name"], set()).add(variant(item["arg"])[0])
            keyword[item["name"]] = by_name(item)
    plain = [_parameter(name, kinds) for name, kinds in types.items() if not keyword[name]]
    named = [_parameter(name, kinds) for name, kinds in types.items() if keyword[name]]
    parameters = [*plain, *(["*", *named] if named else [])]
    returns = [_type({variant(output)[0]}) for output in calls[0]["outputs"]]
    return f"({', '.join(parameters)}) -> {returns[0] if len(returns) == 1 else _tuple(returns)}"


def _tuple(returns: Sequence[str]) -> str:
    return f"({', '.join(returns)})"


def _parameter(name: str, kinds: set[str]) -> str:
    return f"{_type(kinds)} {name}"


def _type(kinds: set[str]) -> str:
    given = kinds - {"as_none"}
    if not given:
        return "Tensor?"
    types = {_TYPES[kind] for kind in given}
    if types <= {"SymInt", "float"} and len(types) > 1:
        types = {"Scalar"}
    if len(types) > 1:
        raise ValueError(f"an argument is {' and '.join(sorted(types))}")
    optional = "?" if "as_none" in kinds and not types & {"Tensor?"} else ""
    return types.pop() + optional
