"""Targets of exported nodes as something to call - allowed operators, and functions on numbers."""

import inspect
import math
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

import torch
from torch import Tensor
from torch._ops import HigherOrderOperator, OpOverload

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import OpName, TensorMeta, Value
from opcheck.source.building.failures import import_library
from opcheck.source.building.operators_allowed import RUN, arguments_refusal, refusal, registered
from opcheck.source.pt2.targets import PYTHON, Kind, Target, parse_target
from opcheck.source.pt2.values import GraphValues, by_name, variant

_MOST_BITS = 64


def _power(base: Any, exponent: Any) -> Any:
    """``base ** exponent``, refused where Python would work at it for long."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and exponent * base.bit_length() > _MOST_BITS:
        raise ValueError(
            Sentence(
                "the graph computes {text} to the power of {text_b}", text=base, text_b=exponent
            )
        )
    return operator.pow(base, exponent)


def _shifted(number: Any, by: Any) -> Any:
    if isinstance(by, int) and by > _MOST_BITS:
        raise ValueError(Sentence("the graph shifts a number by {text} bits", text=by))
    return operator.lshift(number, by)


_OWN: Mapping[str, Callable[..., Any]] = {
    "_operator.pow": _power,
    "_operator.lshift": _shifted,
    "torch.ops.aten.sym_size.int": Tensor.size,
    "torch.ops.aten.sym_stride.int": Tensor.stride,
    "torch.ops.aten.sym_numel.default": Tensor.numel,
    "torch.ops.aten.sym_storage_offset.default": Tensor.storage_offset,
    "torch.ops.aten.sym_is_contiguous.default": Tensor.is_contiguous,
}
_MODULES: Mapping[str, Any] = {"_operator": operator, "math": math, "torch": torch}


def _functions() -> dict[str, Callable[..., Any]]:
    """Every name of the list that this torch has."""
    found = dict(_OWN)
    for text in PYTHON - _OWN.keys():
        module, _, name = text.partition(".")
        function = getattr(_MODULES[module], name, None)  # names of our own list
        if function is not None:
            found[text] = function
    return found


FUNCTIONS: Mapping[str, Callable[..., Any]] = _functions()


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


_OVERRIDDEN = (
    "CompositeImplicitAutograd", "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional", "CPU", "Meta", "PrivateUse1", "BackendSelect",
    "AutogradCPU", "AutogradMeta", "AutogradPrivateUse1", "ADInplaceOrView",
)  # fmt: skip
"""Dispatch keys at which another library's kernel could be reached here."""
_ALWAYS = frozenset({"CPU", "Meta"})


class Operators:
    """Finds what a node calls; operators of libraries that are not here are declared from use."""

    def __init__(self, nodes: Iterable[Mapping[str, Any]], values: GraphValues) -> None:
        """Resolve every target and every operator that a higher-order one is given.

        Raises:
            ValueError: one of them is nothing that a file may have called.
        """
        self._values = values
        self._library_of: dict[str, torch.library.Library] = {}
        self._known: dict[str, Callable[..., Any]] = {}
        self._running: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
        self.declared: dict[str, None] = {}
        """Operators that this process has no library for, by name."""
        uses: dict[str, list[Mapping[str, Any]]] = {}
        wrapped: dict[str, None] = {}
        for node in nodes:
            uses.setdefault(node["target"], []).append(node)
            for item in node["inputs"]:
                kind, payload = variant(item["arg"])
                if kind == "as_operator":
                    wrapped[payload] = None
        for text, calls in uses.items():
            self._known[text] = self._resolved(parse_target(text), calls)
        for text in wrapped:
            if text not in self._known:
                self._known[text] = self._resolved(parse_target(text), ())

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Self:
        """What is declared in torch is there once, for every copy of the program."""
        return self

    def find(self, target: str) -> Callable[..., Any]:
        """Give what a node with that target calls."""
        return self._known[target]

    def check_call(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Require that an operator of PyTorch's own is passed no text that it does not know."""
        if isinstance(function, OpOverload) and function.namespace in RUN:
            why = arguments_refusal(function._schema, tuple(args), dict(kwargs))
            if why and str(function._schema.name) not in self.declared:
                raise SourceError(Sentence("the graph cannot be run: {what}", what=why))

    @contextmanager
    def running(self, node: Mapping[str, Any], graph: Mapping[str, Any]) -> Iterator[None]:
        """Have a declared operator return what the file says of ``node``, a node of ``graph``."""
        outer, self._running = self._running, (node, graph)
        try:
            yield
        finally:
            self._running = outer

    def _resolved(self, target: Target, calls: Sequence[Mapping[str, Any]]) -> Callable[..., Any]:
        match target.kind:
            case Kind.PYTHON:
                return FUNCTIONS[target.text]
            case Kind.HIGHER_ORDER:
                return _higher_order(target)
        op = target.op
        assert op is not None, target
        _import_library(op.namespace)
        found = registered(op)
        if found is None:
            return self._declared(op, calls)
        if op.namespace not in RUN:
            return self._unrun(op, found)
        why = refusal(found)
        if why:
            raise ValueError(
                Sentence(
                    "it calls {text}, which no file may have called: {text_b}", text=op, text_b=why
                )
            )
        return found

    def _declared(self, op: OpName, calls: Sequence[Mapping[str, Any]]) -> Callable[..., Any]:
        """Define an operator that no library here has by the schema that its uses tell."""
        if torch._C._jit_get_schemas_for_operator(op.operator) and op.namespace in RUN:
            known = torch._C._jit_get_schemas_for_operator(op.operator)
            if any(schema.overload_name == op.overload for schema in known):
                raise ValueError(
                    Sentence("it calls {text}, an operator of TorchScript alone", text=op)
                )
        if not calls:
            return _Absent(op)  # only what wraps it could tell how it is called
        library = self._library(op.namespace)
        name = _name(op)
        library.define(f"{name}{_schema(calls)}")
        library.impl(name, self._recorded, "Meta")
        self.declared[str(op)] = None
        declared = registered(op)
        if declared is None:
            raise ValueError(Sentence("{text} could not be declared", text=op))
        return declared

    def _unrun(self, op: OpName, found: OpOverload) -> OpOverload:
        """Have an operator of another library return what the file says, in place of its code."""
        library = self._library(op.namespace)
        there = torch._C._dispatch_has_kernel_for_dispatch_key
        keys = [key for key in _OVERRIDDEN if key in _ALWAYS or there(str(op), key)]
        _replace_rule(op, self._recorded)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a kernel is replaced
            for key in keys:
                library.impl(_name(op), self._recorded, key, **_OVERRIDE)
        return found

    def _library(self, namespace: str) -> torch.library.Library:
        if namespace not in self._library_of:
            self._library_of[namespace] = torch.library.Library(namespace, "FRAGMENT")
        return self._library_of[namespace]

    def _recorded(self, *_args: Any, **_kwargs: Any) -> Any:
        """What the file says that the running node returns, on meta."""
        node, graph = self._running
        values = self._values.of(graph)
        made = [_on_meta(values.read(output)) for output in node["outputs"]]
        return made[0] if len(made) == 1 else tuple(made)


def _replace_rule(op: OpName, rule: Callable[..., Any]) -> None:
    """Put ``rule`` before a shape rule in Python, which a trace would ask first.

    Private; checked on 2.13.0. The older rule stays in the list, for its own library to take out.
    """
    held: Any = torch._library.simple_registry.singleton.find(op.operator).fake_impl
    if held.kernel is None:
        return
    kernel = torch._library.utils.Kernel(rule, "opcheck")
    if hasattr(held, "kernels"):
        held.kernels.append(kernel)
    else:  # torch 2.6
        held.kernel = kernel


class _Absent:
    """Stands for an operator that a higher-order one is to call, and that nobody here has."""

    def __init__(self, op: OpName) -> None:
        self._op = op

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError(repr(self))

    def __repr__(self) -> str:
        return f"{self._op}, which no library here has"


_OVERRIDE: Mapping[str, Any] = (
    {"allow_override": True}
    if "allow_override" in inspect.signature(torch.library.Library.impl).parameters
    else {}
)
"""torch 2.6 lets a kernel be replaced without it."""


def _name(op: OpName) -> str:
    return f"{op.base}.{op.overload}" if op.overload else op.base


def _higher_order(target: Target) -> HigherOrderOperator:
    """Give a higher-order operator that was found in the list of those that may be called."""
    name = "" if target.op is None else target.op.base
    found = getattr(torch.ops.higher_order, name, None)
    if not isinstance(found, HigherOrderOperator) or found.name() != name:
        raise ValueError(
            Sentence(
                "torch {text} has no higher-order operator {text_b}",
                text=torch.__version__,
                text_b=name,
            )
        )
    return found


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
        raise ValueError(Sentence("an argument is {text}", text=" and ".join(sorted(types))))
    optional = "?" if "as_none" in kinds and not types & {"Tensor?"} else ""
    return types.pop() + optional
