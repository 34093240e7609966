"""What the templates write in C++: types, parameters and results of each form of an overload."""

from collections.abc import Iterable
from typing import Any

from opcheck.rewrite.custom.python_names import keyword_only, python_signature, torch_name
from opcheck.rewrite.custom.signature import Argument, Form, Signature


def cpp_names(s: Signature, optional: str) -> dict[str, Any]:
    """Types and parameters of the function that the base form registers."""
    results = "at::Tensor" if s.results == 1 else _tuple(["at::Tensor"] * s.results)
    return {
        "optional": optional,
        "result": results,
        "parameters": _parameters(s.arguments, optional),
        "names": ", ".join(a.name for a in s.arguments),
        "first": s.arguments[0].name,
        "lists": any(a.passed and a.value_type == "List" for a in s.arguments),
        "packet": f"{s.name.namespace}::{s.name.base}",
        "overload": s.name.overload,
    }


def _parameters(arguments: Iterable[Argument], optional: str) -> str:
    return ", ".join(f"{_cpp_type(a, optional)} {a.name}" for a in arguments)


def _cpp_type(argument: Argument, optional: str) -> str:
    plain = {
        "Tensor": "at::Tensor", "int": "int64_t", "float": "double", "bool": "bool",
        "number": "at::Scalar", "int[]": "at::IntArrayRef", "ScalarType": "at::ScalarType",
    }[argument.kind.rstrip("?")]  # fmt: skip
    if argument.kind == "int[]?":
        return "at::OptionalIntArrayRef"
    text = f"{optional}<{plain}>" if argument.optional else plain
    return f"const {text}&" if plain in ("at::Tensor", "at::Scalar") else text


def _tuple(types: Iterable[str]) -> str:
    return f"std::tuple<{', '.join(types)}>"


def form_names(form: Form, s: Signature, optional: str) -> dict[str, Any]:
    """The same of a form that writes into places it is given."""
    outs = form.outs or (s.arguments[0].name,)
    places = [f"at::Tensor& {name}" for name in form.outs]
    if form.outs:
        parameters = ", ".join([_parameters(s.arguments, optional), *places])
    else:
        rest = _parameters(s.arguments[1:], optional)
        parameters = ", ".join(filter(None, [f"at::Tensor& {outs[0]}", rest]))
    one = len(outs) == 1
    return {
        "op": form.op,
        "outs": outs,
        "place": outs[0],
        "python_name": torch_name(form.op),
        "parameters": parameters,
        "result": "at::Tensor&" if one else _tuple(["at::Tensor&"] * len(outs)),
        "python": ", ".join([python_signature(s), *keyword_only(s, form.outs)]),
    }
