"""How ``compute`` is declared and called, in each language that a kernel is written in."""

from typing import Any

from opcheck.rewrite.custom.expressions import TABLE
from opcheck.rewrite.custom.python_names import python_signature
from opcheck.rewrite.custom.signature import Argument, Signature


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
    text = " ".join(str(TABLE.get(s.op, "")).split())
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
        "library": any(f"{name}(" in text for name in _LIBRARY.split()),
    }


_METAL = {"int64_t": "long", "bool": "bool"}
_LIBRARY = """
    acos acosh asin asinh atan atan2 atanh copysign cosh erfc expm1 fmod hypot lgamma log10 log1p
    pow rint sinh tan tanh trunc
"""
"""What Triton takes from the vendor's device library."""
