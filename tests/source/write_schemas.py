"""Writes the schemas that graphs are checked against where torch is not loaded.

Run as a script, ``python -m tests.source.write_schemas``, it writes them of the installed torch.
"""

import re
from collections.abc import Mapping
from typing import Any

import torch

from opcheck.source.pt2.schemas import PATH

_SIZED = re.compile(r"\[(\d+)\]\?? (\w+)")
"""One number does for a list of so many."""


def text() -> str:
    """One line an overload, of all that the dispatcher has."""
    names = [n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::")]
    return "\n".join([_line(name) for name in sorted(names)]) + "\n"


def _line(name: str) -> str:
    operator, _, overload = name.partition(".")
    schema = torch._C._get_schema(operator, overload)
    sized = {found[2]: found[1] for found in _SIZED.finditer(str(schema))}
    plain = [_argument(one, sized) for one in schema.arguments if not one.kwarg_only]
    named = [_argument(one, sized) for one in schema.arguments if one.kwarg_only]
    types = [_type(one.real_type) for one in schema.returns]
    return f"{name}({', '.join([*plain, *(['*', *named] if named else [])])}) -> {', '.join(types)}"


def _argument(argument: Any, sized: Mapping[str, str]) -> str:
    size = f"[{sized.get(argument.name, '')}]"
    kind = _type(argument.real_type).replace("[]", size, 1)
    return f"{kind} {argument.name}{'=' if argument.has_default_value() else ''}"


def _type(kind: Any) -> str:
    if kind.kind() == "OptionalType":
        return f"{_type(kind.getElementType())}?"
    if kind.kind() == "ListType":
        return f"{_type(kind.getElementType())}[]"
    return "Scalar" if kind.kind() == "NumberType" else str(kind)


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
