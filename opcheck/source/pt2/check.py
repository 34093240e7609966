"""What must hold of an exported graph before anything of it is run, or said to run."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.source.pt2.arithmetic import check_computed, stated
from opcheck.source.pt2.file import ProgramFile, damaged
from opcheck.source.pt2.schemas import check_call
from opcheck.source.pt2.targets import Kind, Target, check_higher_order, parse_target
from opcheck.source.pt2.trees import check_trees
from opcheck.source.pt2.values import by_name, variant
from opcheck.source.text_arguments import text_refusal, words_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""torch names the values of a graph as Python names variables."""
_PATH = re.compile(r"[\w :/<>@+-]{1,200}(\.[\w :/<>@+-]{1,200}){0,99}")
"""Path of a parameter: attributes and keys of dictionaries of modules, at most so deep."""
_DUNDER = re.compile(r"(^|\.)__\w+__(\.|$)")
"""An attribute that every object of Python has: no parameter."""
_DEVICE = re.compile(r"[a-z][a-z0-9_]{0,40}")
_GREATEST = 2**63
DAMAGED = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
_TENSOR, _NUMBER, _OBJECT = "tensor", "number", "object"

Graph = Mapping[str, Any]


def check_program(program: ProgramFile) -> None:
    """Require that a program's graph could run, as far as that can be told without torch.

    Raises:
        SourceError: it could not, or is none.
    """
    try:
        _check(program.document["graph_module"], _release(program.torch_version))
    except _NodeError as error:
        raise damaged(program.path, program.member, sentence_of(error)) from error.__cause__
    except DAMAGED as error:
        what = Sentence("is not an exported program ({text})", text=what_is(error))
        raise damaged(program.path, program.member, what) from error
    except RecursionError as error:
        raise damaged(
            program.path, program.member, Sentence("nested too deeply to be a model")
        ) from error


def what_is(error: Exception) -> Sentence:
    """An error of taking JSON apart, in words."""
    return Sentence("no {text}", text=error) if isinstance(error, KeyError) else sentence_of(error)


def unreadable(index: int, node: Any, error: Exception) -> Sentence:
    """Which node of a graph cannot be taken apart, and why."""
    name = node.get("name") if isinstance(node, dict) else None
    where = Sentence("node {line}", line=index)
    if name:
        where = Sentence("node {line} ({name})", line=index, name=name)
    return Sentence("{said} cannot be read ({said_why})", said=where, said_why=what_is(error))


def _release(version: str) -> tuple[int, ...]:
    """``2.13.0`` as its first two numbers; nothing where the file does not say."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", version)
    return (int(found[1]), int(found[2])) if found else ()


class _NodeError(Exception):
    """A node that cannot be, by its number and name."""


def _check(module: Mapping[str, Any], release: tuple[int, ...]) -> None:
    graph, signature = module["graph"], module["signature"]
    _GraphCheck(graph, release).check()
    inputs, outputs = signature["input_specs"], signature["output_specs"]
    if len(inputs) != len(graph["inputs"]) or len(outputs) != len(graph["outputs"]):
        raise ValueError(
            Sentence("its signature has more or fewer inputs or outputs than its graph")
        )
    paths: dict[str, str] = {}
    for spec, argument in zip(inputs, graph["inputs"], strict=True):
        _check_spec(spec, argument, paths)
    for spec, argument in zip(outputs, graph["outputs"], strict=True):
        _check_spec(spec, argument, {})
    check_trees(module)


def _check_spec(
    spec: Mapping[str, Any], argument: Mapping[str, Any], paths: dict[str, str]
) -> None:
    """Require that a signature describes an input or output as the graph has it."""
    kind, payload = variant(spec)
    described = payload.get("arg")
    if described is not None:
        own = variant(described)[1] if kind in ("user_input", "user_output") else described
        there = variant(argument)[1]
        if isinstance(own, dict) and "name" in own and own["name"] != there["name"]:
            raise ValueError(
                Sentence(
                    "its signature has {text} where its graph has {text_b}",
                    text=repr(own["name"]),
                    text_b=repr(there),
                )
            )
    path = payload.get(f"{kind}_name")
    if kind in ("parameter", "buffer", "tensor_constant"):
        if not (isinstance(path, str) and _PATH.fullmatch(path)) or _DUNDER.search(path):
            raise ValueError(
                Sentence("{text} is no name of a {text_b}", text=repr(str(path)[:80]), text_b=kind)
            )
        if paths.setdefault(path, kind) != kind:  # tied ones are there twice
            raise ValueError(
                Sentence(
                    "{text} is a {text_b} and a {text_c}",
                    text=repr(path),
                    text_b=paths[path],
                    text_c=kind,
                )
            )


class _GraphCheck:
    """One graph, and what is defined so far in it."""

    def __init__(self, graph: Graph, release: tuple[int, ...]) -> None:
        self._graph = graph
        self._release = release
        self._metas: Mapping[str, Any] = graph["tensor_values"]
        self._defined: dict[str, str] = {}
        self._numbers = stated(graph)

    def check(self) -> None:
        """Look at inputs, nodes and outputs in their order."""
        for argument in self._graph["inputs"]:
            self._define(argument)
        for index, node in enumerate(self._graph["nodes"]):
            try:
                self._node(node)
            except DAMAGED as error:
                raise _NodeError(unreadable(index, node, error)) from error
        for argument in self._graph["outputs"]:
            kind, payload = variant(argument)
            if kind in _HELD:
                raise ValueError(Sentence("it gives a {text}", text=kind.removeprefix("as_")))
            self._argument(kind, payload)

    def _node(self, node: Mapping[str, Any]) -> None:
        target = parse_target(node["target"])
        inputs: Sequence[Mapping[str, Any]] = node["inputs"]
        _check_metadata(node["metadata"])
        if target.kind is Kind.HIGHER_ORDER and target.op is not None:
            check_higher_order(target.op, inputs)
        names: set[str] = set()
        for item in inputs:
            name = item["name"]
            if name and not _NAME.fullmatch(name):
                raise ValueError(Sentence("{text} is no name", text=repr(name[:80])))
            if name in names and (by_name(item) or target.kind is Kind.OPERATOR):
                raise ValueError(Sentence("it gets {text} twice", text=repr(name)))
            names.add(name)
            self._input(target, name, *variant(item["arg"]))
        if target.kind is Kind.OPERATOR and target.op is not None:
            check_call(target.op, node, self._release)
        if target.kind is Kind.PYTHON:
            self._computed(target, node)
        for output in node["outputs"]:
            self._define(output)

    def _computed(self, target: Target, node: Mapping[str, Any]) -> None:
        """Require that what the file says of a number that is computed is so."""
        (output,) = node["outputs"]
        kind, payload = variant(output)
        name = payload.get("as_name", "") if kind == "as_sym_int" else ""
        inputs = [item["arg"] for item in node["inputs"]]
        check_computed(target.text, inputs, name, self._numbers)

    def _input(self, target: Target, name: str, kind: str, payload: Any) -> None:
        if target.kind is not Kind.HIGHER_ORDER and kind in _HELD:
            raise ValueError(
                Sentence(
                    "it gets a {text} as {text_b}", text=kind.removeprefix("as_"), text_b=repr(name)
                )
            )
        if target.kind is Kind.PYTHON and kind not in _COMPUTED_WITH:
            raise ValueError(Sentence("it computes with a {text}", text=kind.removeprefix("as_")))
        if kind == "as_string" and target.kind is Kind.OPERATOR and target.op is not None:
            operator = target.op.operator
            why = words_of(operator) and text_refusal(operator, name, payload)
            if why:
                raise ValueError(why)
        self._argument(kind, payload)

    def _argument(self, kind: str, payload: Any) -> None:
        """Require that what an argument names is defined, and that what it holds is of its kind."""
        if kind == "as_tensor":
            self._used(payload["name"], _TENSOR)
        elif kind in _NUMBERS:
            self._number(payload)
        elif kind in _LISTS:
            one = _LISTS[kind]
            if type(payload) is not list:
                raise TypeError(f"{kind} is no list")
            for item in payload:
                self._argument(one, item)
        elif kind == "as_optional_tensor":
            self._optional(payload)
        elif kind == "as_string_to_argument":
            for item in payload.values():
                self._argument(*variant(item))
        elif kind == "as_graph":
            if not _NAME.fullmatch(payload["name"]):
                raise ValueError(Sentence("{text} is no name", text=repr(payload["name"][:80])))
            _GraphCheck(payload["graph"], self._release).check()
        elif kind in _LITERALS and not _LITERALS[kind](payload):
            raise ValueError(
                Sentence(
                    "{text} is {text_b}", text=kind.removeprefix("as_"), text_b=str(payload)[:60]
                )
            )

    def _optional(self, payload: Any) -> None:
        """A tensor or none; torch 2.3 wrote the tensor's name bare."""
        if isinstance(payload, str):
            self._used(payload, _TENSOR)
            return
        kind, held = variant(payload)
        if kind == "as_tensor":
            self._used(held if isinstance(held, str) else held["name"], _TENSOR)
        elif kind != "as_none":
            raise ValueError(
                Sentence("an optional tensor is a {text}", text=kind.removeprefix("as_"))
            )

    def _number(self, payload: Mapping[str, Any]) -> None:
        kind, held = variant(payload)
        if kind == "as_name":
            self._used(held, _NUMBER)
        elif kind not in _LITERALS or not _LITERALS[kind](held):
            raise ValueError(Sentence("a number is {text}", text=str(payload)[:60]))

    def _used(self, name: str, sort: str) -> None:
        found = self._defined.get(name)
        if found is None:
            raise ValueError(
                Sentence("it uses {text}, which nothing before it defines", text=repr(name))
            )
        if found != sort:
            raise ValueError(
                Sentence(
                    "it uses {text} as a {text_b}, and that is a {text_c}",
                    text=repr(name),
                    text_b=sort,
                    text_c=found,
                )
            )

    def _define(self, argument: Mapping[str, Any]) -> None:
        kind, payload = variant(argument)
        if kind == "as_tensor":
            self._named(payload["name"], _TENSOR)
        elif kind == "as_tensors":
            for item in payload:
                self._named(item["name"], _TENSOR)
        elif kind in _NUMBERS:
            held, name = variant(payload)
            if held == "as_name":
                self._named(name, _NUMBER)
        elif kind == "as_custom_obj":
            self._named(payload["name"], _OBJECT)

    def _named(self, name: str, sort: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(Sentence("{text} is no name", text=repr(str(name)[:80])))
        if name in self._defined:
            raise ValueError(Sentence("{text} is defined twice", text=repr(name)))
        if sort == _TENSOR and name not in self._metas:
            raise KeyError(name)
        self._defined[name] = sort


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    for key in ("stack_trace", "nn_module_stack"):
        if not isinstance(metadata.get(key, ""), str):
            raise TypeError(f"its {key} is no text")


def _is_int(value: Any) -> bool:
    return type(value) is int and -_GREATEST <= value < _GREATEST


def _is_float(value: Any) -> bool:
    if type(value) is str:
        return value in _FLOATS
    return type(value) in (int, float)


def _is_bool(value: Any) -> bool:
    return type(value) is bool


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_device(value: Any) -> bool:
    index = value.get("index")
    named = isinstance(value["type"], str) and _DEVICE.fullmatch(value["type"])
    return bool(named) and (index is None or (_is_int(index) and -1 <= index < 2**15))


def _is_complex(value: Any) -> bool:
    return _is_float(value["real"]) and _is_float(value["imag"])


def _each(one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda values: type(values) is list and all(map(one, values))


_FLOATS = frozenset({"Infinity", "-Infinity", "NaN", "inf", "-inf", "nan"})
_HELD = frozenset({"as_graph", "as_operator", "as_string_to_argument"})
"""What only a higher-order operator takes."""
_NUMBERS = frozenset({"as_sym_int", "as_sym_float", "as_sym_bool"})
_COMPUTED_WITH = _NUMBERS | {
    "as_tensor", "as_int", "as_float", "as_bool", "as_ints", "as_floats", "as_sym_ints", "as_none",
    "as_memory_format",
}  # fmt: skip
"""What a function on numbers takes; a tensor, where it reads a size of it."""
_LISTS: Mapping[str, str] = {
    "as_tensors": "as_tensor",
    "as_nested_tensors": "as_tensors",
    "as_optional_tensors": "as_optional_tensor",
    "as_sym_ints": "as_sym_int",
    "as_sym_floats": "as_sym_float",
    "as_sym_bools": "as_sym_bool",
}
_LITERALS: Mapping[str, Callable[[Any], bool]] = {
    "as_int": _is_int,
    "as_ints": _each(_is_int),
    "as_float": _is_float,
    "as_floats": _each(_is_float),
    "as_bool": _is_bool,
    "as_bools": _each(_is_bool),
    "as_string": _is_text,
    "as_strings": _each(_is_text),
    "as_operator": _is_text,
    "as_scalar_type": _is_int,
    "as_memory_format": _is_int,
    "as_layout": _is_int,
    "as_device": _is_device,
    "as_complex": _is_complex,
    "as_int_lists": _each(_each(_is_int)),
    "as_float_lists": _each(_each(_is_float)),
}
