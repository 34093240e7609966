"""What the templates fill in: names, types and parameters in Python, C++, Ascend C and kernels."""

import re
from collections.abc import Iterable
from typing import Any

from opcheck.model.trace import OpName
from opcheck.rewrite.custom.signature import Argument, Form, Signature


def torch_name(op: str) -> str:
    """The overload as Python calls it: ``torch.ops.aten.lerp.Scalar``."""
    name = OpName.parse(op)
    return f"torch.ops.{name.namespace}.{name.base}.{name.overload or 'default'}"


def python_signature(s: Signature) -> str:
    """The parameters of a function that takes what the overload takes."""
    parts: list[str] = []
    for argument in s.arguments:
        if argument.keyword and "*" not in parts:
            parts.append("*")
        default = f"={argument.default}" if argument.default else ""
        parts.append(f"{argument.name}{default}")
    return ", ".join(parts)


def keyword_only(s: Signature, outs: Iterable[str]) -> list[str]:
    """Parameters for places of results, behind those of the overload."""
    outs = list(outs)
    star = [] if any(a.keyword for a in s.arguments) or not outs else ["*"]
    return [*star, *outs]


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


def compute_calls(s: Signature) -> dict[str, Any]:
    """Parameters and arguments of ``compute`` for one place of the result."""

    def typed(a: Argument, number: str) -> str:
        kind = number if a.value_type == "double" else a.value_type
        return f"Optional<{kind}> {a.name}" if a.optional else f"{kind} {a.name}"

    tensors = s.tensors
    numbers = [a for a in s.values if a.value_type == "double" and not a.optional]
    parameters = [f"T {a.name}" for a in tensors]
    parameters += [typed(a, "T" if a in numbers else "double") for a in s.values]
    arguments = [
        f"given.{a.name}.data ? at<T>(given.{a.name}, i) : T(0)"
        if a.optional
        else f"at<T>(given.{a.name}, i)"
        for a in tensors
    ]
    arguments += [f"T(given.{a.name})" if a in numbers else f"given.{a.name}" for a in s.values]
    both = [*tensors, *s.values]
    metal = [f"T {a.name}" for a in tensors]
    metal += [f"{_METAL.get(a.value_type, 'T')} {a.name}" for a in s.values]
    return {
        "compute_parameters": ", ".join(parameters),
        "compute_arguments": ", ".join(arguments),
        "metal_parameters": ", ".join(metal),
        "metal_arguments": ", ".join(
            [f"{a.name}_at[i]" for a in tensors]
            + [a.name if a.value_type in _METAL else f"T({a.name})" for a in s.values]
        ),
        "python_parameters": ", ".join(a.name for a in both),
        "python_arguments": ", ".join(a.name for a in both),
        "python_signature": python_signature(s),
        "python_names": ", ".join(
            f"{a.name}={a.name}" if a.keyword else a.name for a in s.arguments
        ),
        "python_dict": "{" + ", ".join(f'"{a.name}": {a.name}' for a in s.arguments) + "}",
    }


_METAL = {"int64_t": "long", "bool": "bool"}


_ATTRIBUTES = {
    "int64_t": ("int", "Int", "int64_t"), "double": ("float", "Float", "float"),
    "bool": ("bool", "Bool", "uint8_t"), "List": ("list_int", "ListInt", ""),
}  # fmt: skip
_INTEGERS = re.compile(r"index|indices|mask|target|condition|offsets|lengths|lookup")


def ascend_names(s: Signature, name: str, chip: str) -> dict[str, Any]:
    """Operator, attributes and types for a project of this name on this chip."""
    operator = "".join(part.capitalize() for part in name.split("_"))
    whole = {a.name: not s.pointwise and bool(_INTEGERS.search(a.name)) for a in s.tensors}
    results = ["float", *["int64" if not s.pointwise else "float"] * (s.results - 1)]
    attributes: list[dict[str, str]] = []
    for a in s.values:
        json, getter, tiling = _ATTRIBUTES[a.value_type]
        if a.optional:
            attributes.append(
                {"name": f"has_{a.name}", "json": "bool", "getter": "Bool", "tiling": "uint8_t"}
            )
        attributes.append({"name": a.name, "json": json, "getter": getter, "tiling": tiling})
    return {
        "operator": operator,
        "attributes": attributes,
        "ascend_types": {n: "int64" if is_whole else "float" for n, is_whole in whole.items()},
        "ascend_cpp": {n: "int64_t" if is_whole else "float" for n, is_whole in whole.items()},
        "ascend_results": results,
        "ascend_results_cpp": ["int64_t" if kind == "int64" else kind for kind in results],
        **_SOC.get(chip, {"soc": f"ascend{chip}", "config": f"ascend{chip}"}),
    }


_SOC = {
    "910a": {"soc": "ascend910a", "config": "ascend910"},
    "910b": {"soc": "ascend910b1", "config": "ascend910b"},
    "910c": {"soc": "ascend910_9391", "config": "ascend910_93"},
    "a3": {"soc": "ascend910_9391", "config": "ascend910_93"},
    "310p": {"soc": "ascend310p1", "config": "ascend310p"},
    "310b": {"soc": "ascend310b1", "config": "ascend310b"},
}  # fmt: skip
