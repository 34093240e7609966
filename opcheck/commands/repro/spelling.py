"""Arguments as Python spells them, from text that anyone may have written."""

import cmath
import re
from collections.abc import Iterator

from opcheck.commands.repro.values import Argument
from opcheck.errors import UsageError
from opcheck.model.trace import DTYPE_BYTES, Constant, OpName, TensorMeta, Value

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACES = re.compile(r"ind(ex|ices)|target|offset|^mask_?ids?$|_idx$")
"""Names of integer arguments that say where something is: any number but 0 may be too large."""
PLAYABLE = frozenset({"aten", "prims", "quantized", "torchvision"})
"""Namespaces whose operators ``torch.ops`` has, or has after an import of that name."""


def operator(op: OpName) -> str:
    """An overload as an expression.

    Raises:
        UsageError: a script cannot call it.
    """
    if op.namespace not in PLAYABLE:
        raise UsageError(
            f"{op} is no operator that a script can call on its own",
            "it stands for a function of a library, for a collective, or for a part of the graph: "
            "write the script around what your code calls",
        )
    parts = (op.namespace, op.base, op.overload or "default")
    return ".".join(("torch.ops", *map(_identifier, parts)))


def argument(given: Argument) -> str:
    """One argument as an item of a ``dict``."""
    text = _spelled(given.name, given.value, differentiated=given.differentiated)
    return f'"{_identifier(given.name)}": {text}'


def omitted(given: Argument) -> str:
    """Why an argument has to be left at its default; "" where it has not."""
    if any(constant.kind == "other" for constant in _constants(given.value)):
        return f"{_identifier(given.name)}: a trace keeps no value of it"
    return ""


def _constants(value: Value) -> Iterator[Constant]:
    if isinstance(value, Constant):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _constants(item)


def _identifier(text: str) -> str:
    if not _IDENTIFIER.fullmatch(text):
        raise UsageError(f"not a name that PyTorch has: {text[:60]!r}", "scan the model again")
    return text


def _spelled(name: str, value: Value, *, differentiated: bool = False) -> str:
    match value:
        case TensorMeta():
            return _tensor(name, value, differentiated)
        case Constant(kind="device", value=text):
            return '"cpu"' if text == "cpu" else "device"
        case Constant(value=text):
            return f"torch.{_identifier(text)}"
        case tuple():
            return f"[{', '.join(_spelled(name, item) for item in value)}]"
        case float():
            return repr(value) if value - value == 0 else f'float("{value}")'
        case str():
            return _text(value)
        case _:
            return repr(value)


def _tensor(name: str, tensor: TensorMeta, differentiated: bool) -> str:
    if tensor.dtype not in DTYPE_BYTES:
        raise UsageError(f"not a dtype that PyTorch has: {tensor.dtype[:60]!r}")
    parts = [f"torch.{tensor.dtype}", repr(tensor.shape), repr(tensor.stride)]
    parts.append('"cpu"' if tensor.host else "device")
    if _PLACES.search(name) and tensor.dtype.startswith(("int", "uint")):
        parts.append("high=1")
    made = f"tensor({', '.join(parts)})"
    return f"{made}.requires_grad_()" if differentiated else made


def _text(value: str) -> str:
    """A string, or a complex number, which traces keep as one."""
    try:
        number = complex(value)
    except ValueError:
        return repr(value)
    return repr(number) if cmath.isfinite(number) and "j" in value else repr(value)
