"""The ``--input`` language: ``ids=1x128:int64``, ``1x3x224x224``, ``n=5``; read without torch."""

import difflib
import math
import re
from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import DTYPE_BYTES

DEFAULT_DTYPE = "float32"
_MAX_BYTES = 2**62  # torch counts storage bytes in a signed 64-bit integer
_NAME = re.compile(r"[^\W\d]\w*")
_TENSOR = re.compile(r"(?P<shape>[0-9]{1,19}(?:x[0-9]{1,19})*)?(?::(?P<dtype>\w*))?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}
_HINT = Sentence(
    "write NAME=SHAPE:DTYPE (ids=1x128:int64), SHAPE alone (1x3x224x224), or a constant (n=5)"
)


class TensorSpec(Struct, frozen=True):
    """A tensor to be made: ``1x128:int64``; ``:float32`` has no dimensions."""

    shape: tuple[int, ...]
    dtype: str = ""
    """torch's name without the prefix; empty where the user left it to the default."""

    def __str__(self) -> str:
        dtype = f":{self.dtype}" if self.dtype or not self.shape else ""
        return "x".join(map(str, self.shape)) + dtype


class ConstantSpec(Struct, frozen=True):
    """A Python value passed as it is: ``5``, ``0.5``, ``true``, ``none``, ``'text'``."""

    text: str

    @property
    def value(self) -> bool | int | float | str | None:
        """What the text stands for."""
        if self.text in _WORDS:
            return _WORDS[self.text]
        if self.text.startswith("'"):
            return self.text[1:-1]
        return int(self.text) if _INTEGER.fullmatch(self.text) else float(self.text)

    def __str__(self) -> str:
        return self.text


class ListSpec(Struct, frozen=True):
    """A Python list of values: ``[3x300x400,3x200x200]``."""

    items: tuple["ValueSpec", ...]

    def __str__(self) -> str:
        return f"[{','.join(map(str, self.items))}]"


ValueSpec = TensorSpec | ConstantSpec | ListSpec


class InputSpec(Struct, frozen=True):
    """One argument of the model's forward, as the user asked for it."""

    name: str
    """The forward's parameter; empty for a positional argument."""
    value: ValueSpec

    @classmethod
    def parse(cls, text: str) -> "InputSpec":
        """Read ``[NAME=]VALUE``; ``str()`` gives back exactly ``text``."""
        name, sep, rest = text.partition("=")
        if not sep or text[0] in "['":
            return cls("", _value(text, text))
        if not _NAME.fullmatch(name):
            raise UsageError(
                Sentence(
                    "--input {text}: {text_b} is not a parameter name",
                    text=repr(text),
                    text_b=repr(name),
                ),
                _HINT,
            )
        return cls(name, _value(rest, text))

    def tensors(self) -> tuple[TensorSpec, ...]:
        """Every tensor in it, lists flattened."""
        return tuple(_tensors(self.value))

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.name else str(self.value)


def _tensors(value: ValueSpec) -> Iterator[TensorSpec]:
    match value:
        case TensorSpec():
            yield value
        case ListSpec(items):
            for item in items:
                yield from _tensors(item)
        case ConstantSpec():
            pass
        case _:
            assert_never(value)


_DEEPEST = 20
"""Levels of lists in lists; cell states of an LSTM have two."""


def _value(text: str, whole: str, depth: int = 0) -> ValueSpec:
    if text.startswith("[") and text.endswith("]"):
        if depth == _DEEPEST:
            raise UsageError(
                Sentence("--input: lists are more than {count} deep", count=_DEEPEST), _HINT
            )
        return ListSpec(tuple(_value(item, whole, depth + 1) for item in _items(text[1:-1])))
    if text in _WORDS or _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        return ConstantSpec(text)
    if len(text) > 1 and text.startswith("'") and text.find("'", 1) == len(text) - 1:
        return ConstantSpec(text)
    return _tensor(text, whole)


def _items(text: str) -> Iterator[str]:
    """Split at the commas that stand outside brackets and quotes."""
    depth, quoted, start = 0, False, 0
    for position, char in enumerate(text):
        if char == "'":
            quoted = not quoted
        elif not quoted:
            depth += (char == "[") - (char == "]")
            if char == "," and depth == 0:
                yield text[start:position]
                start = position + 1
    if text:
        yield text[start:]


def _tensor(text: str, whole: str) -> TensorSpec:
    match = _TENSOR.fullmatch(text)
    if match is None or not text:
        raise UsageError(
            Sentence(
                "--input {text}: {text_b} is neither a shape nor a constant",
                text=repr(whole),
                text_b=repr(text),
            ),
            _spelled(text) or _HINT,
        )
    dtype = match["dtype"]
    if dtype is not None and dtype not in DTYPE_BYTES:
        raise UsageError(
            Sentence("--input {text}: unknown dtype {name}", text=repr(whole), name=repr(dtype)),
            _dtype_hint(dtype),
        )
    shape = tuple(int(size) for size in match["shape"].split("x")) if match["shape"] else ()
    spec = TensorSpec(shape, dtype or "")
    if math.prod(shape) * DTYPE_BYTES[dtype or DEFAULT_DTYPE] > _MAX_BYTES:
        raise UsageError(
            Sentence("--input {text}: more elements than a tensor can have", text=repr(whole)),
            _HINT,
        )
    if str(spec) != text:
        raise UsageError(
            Sentence(
                "--input {text}: {text_b} is not a shape", text=repr(whole), text_b=repr(text)
            ),
            Sentence("did you mean {text}?", text=spec),
        )
    return spec


_ALIASES = {
    **dict.fromkeys(("half", "fp16", "f16"), "float16"),
    **dict.fromkeys(("float", "fp32", "f32"), "float32"),
    **dict.fromkeys(("double", "fp64", "f64"), "float64"),
    **dict.fromkeys(("bf16", "bfloat"), "bfloat16"),
    "long": "int64",
    "i64": "int64",
    "int": "int32",
    "i32": "int32",
    "short": "int16",
    "char": "int8",
    "i8": "int8",
    "byte": "uint8",
    "u8": "uint8",
    "boolean": "bool",
}
"""What dtypes are called elsewhere."""


def _dtype_hint(dtype: str) -> Sentence:
    near = difflib.get_close_matches(dtype, DTYPE_BYTES, n=3, cutoff=0.4)
    if dtype.lower() in _ALIASES:
        near = [_ALIASES[dtype.lower()]]
    return Sentence("dtypes are named as in torch: {list}", list=", ".join(near or DTYPE_BYTES))


def _spelled(text: str) -> Sentence | None:
    """A shape that is written as Python, NumPy or torch write it, as it is written here."""
    shape, _, dtype = text.partition(":")
    sizes = [size for size in re.split(r"[][(),*×xX ]+", shape) if size]
    dtype = dtype.strip().removeprefix("torch.")
    written = "x".join(sizes) + (f":{_ALIASES.get(dtype.lower(), dtype)}" if dtype else "")
    known = _TENSOR.fullmatch(written)
    if not sizes or known is None or (known["dtype"] or DEFAULT_DTYPE) not in DTYPE_BYTES:
        return None
    return Sentence("did you mean {text}?", text=written)
