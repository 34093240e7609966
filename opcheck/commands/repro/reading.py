"""Arguments read back from how a report shows them: ``x: float32[1,3]``, ``dim=1``.

A report keeps dtypes, sizes and constants, not strides: every tensor is taken to be contiguous.
"""

import re
from collections.abc import Iterator, Sequence

from opcheck.commands.repro.values import Argument
from opcheck.errors import UsageError
from opcheck.model.trace import DTYPE_BYTES, Constant, TensorMeta, Value

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
    return tuple(map(_argument, inputs))


def _argument(text: str) -> Argument:
    found = _ARGUMENT.fullmatch(text)
    if found is None:
        raise _misread(text)
    name, value = found["name"], found["value"]
    if found["kind"] == "=":
        return Argument(name, Constant("device", value) if name == "device" else _value(value))
    tensor = _tensor(value)
    if tensor is None:
        raise _misread(text)
    return Argument(name, tensor)


def _misread(text: str) -> UsageError:
    return UsageError(
        f"an argument in the report is not understood: {text[:_SHOWN]!r}",
        "scan the model again with this version, or give the model itself with -t TARGET",
    )


def _value(text: str, depth: int = 0) -> Value:
    if text.startswith("[") and text.endswith("]"):
        if depth == _DEEPEST:
            raise _misread(text)
        return tuple(_value(item, depth + 1) for item in _items(text[1:-1]))
    return _tensor(text) or _constant(text)


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


def _tensor(text: str) -> TensorMeta | None:
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


def _constant(text: str) -> Value:
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
