"""Arguments read back from how a report shows them, and spelled as Python, safely.

A report shows ``x: float32[1,3]`` and ``dim=1``: dtypes, sizes and constants, not strides, so that
every tensor is taken to be contiguous.
"""

import cmath
import re
from collections.abc import Iterator, Sequence

from opcheck.commands.repro.values import Argument
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import DTYPE_BYTES, Constant, OpName, TensorMeta, Value

_ARGUMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)(?P<kind>: |=)(?P<value>.*)", re.DOTALL)
_TENSOR = re.compile(
    r"(?P<dtype>\w+)\[(?P<sizes>(?:[0-9]{1,19}(?:,[0-9]{1,19}){0,63})?)\](?P<host> \(host\))?"
)
"""Of sizes that a tensor may have, in as many dimensions as it may have."""
_NUMBER = re.compile(r"-?[0-9]{1,1000}")
_SHOWN = 80
_DEEPEST = 16
"""Lists within lists; an argument of PyTorch has two."""
_PLAIN: dict[str, Value] = {"None": None, "True": True, "False": False}
_LAYOUTS = frozenset({"strided", "sparse_coo", "sparse_csr", "sparse_csc", "jagged"})
_FORMATS = frozenset({"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"})


def read_arguments(inputs: Sequence[str]) -> tuple[Argument, ...]:
    """The arguments of one use.

    Raises:
        UsageError: one is not as reports have it.
    """
    return tuple(map(_read_argument, inputs))


def _read_argument(text: str) -> Argument:
    found = _ARGUMENT.fullmatch(text)
    if found is None:
        raise _misread(text)
    name, value = found["name"], found["value"]
    if found["kind"] == "=":
        return Argument(name, Constant("device", value) if name == "device" else _read_value(value))
    tensor = _read_tensor(value)
    if tensor is None:
        raise _misread(text)
    return Argument(name, tensor)


def _misread(text: str) -> UsageError:
    return UsageError(
        Sentence("an argument in the report is not understood: {text}", text=repr(text[:_SHOWN])),
        Sentence("scan the model again with this version, or give the model itself with -t TARGET"),
    )


def _read_value(text: str, depth: int = 0) -> Value:
    if text.startswith("[") and text.endswith("]"):
        if depth == _DEEPEST:
            raise _misread(text)
        return tuple(_read_value(item, depth + 1) for item in _items(text[1:-1]))
    return _read_tensor(text) or _read_constant(text)


def _items(text: str) -> Iterator[str]:
    """What stands between commas, but not between those of an inner list."""
    depth = start = 0
    for place, character in enumerate(text):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and not depth and text[place + 1 : place + 2] == " ":
            yield text[start:place]
            start = place + 2
    if text:
        yield text[start:]


def _read_tensor(text: str) -> TensorMeta | None:
    found = _TENSOR.fullmatch(text)
    if found is None or found["dtype"] not in DTYPE_BYTES:
        return None
    shape = tuple(int(size) for size in found["sizes"].split(",") if size)
    return TensorMeta(found["dtype"], shape, contiguous(shape), host=bool(found["host"]))


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a tensor whose elements lie in order."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _read_constant(text: str) -> Value:
    if text in _PLAIN:
        return _PLAIN[text]
    for kind, known in (("dtype", DTYPE_BYTES), ("layout", _LAYOUTS), ("memory_format", _FORMATS)):
        if text in known:
            return Constant(kind, text)
    if _NUMBER.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


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
            Sentence("{op} is no operator that a script can call on its own", op=op),
            Sentence(
                "it stands for a function of a library, for a collective, or for a "
                "part of the graph: write the script around what your code calls"
            ),
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
        return Sentence("{name}: a trace keeps no value of it", name=_identifier(given.name))
    return ""


def _constants(value: Value) -> Iterator[Constant]:
    if isinstance(value, Constant):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _constants(item)


def _identifier(text: str) -> str:
    if not _IDENTIFIER.fullmatch(text):
        raise UsageError(
            Sentence("not a name that PyTorch has: {text}", text=repr(text[:60])),
            Sentence("scan the model again"),
        )
    return text


def _spelled(name: str, value: Value, *, differentiated: bool = False) -> str:
    match value:
        case TensorMeta():
            return _spelled_tensor(name, value, differentiated)
        case Constant(kind="device", value=text):
            return '"cpu"' if text == "cpu" else "device"
        case Constant(value=text):
            return f"torch.{_identifier(text)}"
        case tuple():
            return f"[{', '.join(_spelled(name, item) for item in value)}]"
        case float():
            return repr(value) if value - value == 0 else f'float("{value}")'
        case str():
            return _spelled_text(value)
        case _:
            return repr(value)


def _spelled_tensor(name: str, tensor: TensorMeta, differentiated: bool) -> str:
    if tensor.dtype not in DTYPE_BYTES:
        raise UsageError(
            Sentence("not a dtype that PyTorch has: {text}", text=repr(tensor.dtype[:60]))
        )
    parts = [f"torch.{tensor.dtype}", repr(tensor.shape), repr(tensor.stride)]
    parts.append('"cpu"' if tensor.host else "device")
    if _PLACES.search(name) and tensor.dtype.startswith(("int", "uint")):
        parts.append("high=1")
    made = f"tensor({', '.join(parts)})"
    return f"{made}.requires_grad_()" if differentiated else made


def _spelled_text(value: str) -> str:
    """A string, or a complex number, which traces keep as one."""
    try:
        number = complex(value)
    except ValueError:
        return repr(value)
    return repr(number) if cmath.isfinite(number) and "j" in value else repr(value)
