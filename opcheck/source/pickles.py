"""What a pickle would build, read from its opcodes and never executed."""

import io
import pickletools
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

_STRINGS = frozenset(
    ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE", "SHORT_BINSTRING", "BINSTRING",
     "STRING")
)  # fmt: skip
_PUTS = frozenset(("PUT", "BINPUT", "LONG_BINPUT"))
_GETS = frozenset(("GET", "BINGET", "LONG_BINGET"))
_WEIGHT_MODULES = frozenset(
    ("collections", "torch", "torch._utils", "torch._tensor", "torch.storage", "torch.nn.parameter",
     "torch.serialization", "numpy", "numpy.core.multiarray", "numpy._core.multiarray",
     "numpy.core.numeric", "numpy._core.numeric", "_codecs", "torch.torch_version")
)  # fmt: skip
"""Modules whose names are met in files that hold tensors, numbers and dicts alone."""
_PLAIN = frozenset(("set", "frozenset", "dict", "list", "tuple", "int", "float", "bytearray"))
_STORAGE_WORDS = frozenset(("storage", "cpu", "cuda", "little", "big", "latin1"))
_AFTER_KEYS = "_metadata"
"""The attribute that a state_dict stores after its items."""
_KEPT = 8
_LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_LEGACY_PREAMBLE = 3
"""Pickles before the object in what torch.save wrote until 1.6: magic number, version, sizes."""


class PickleContents(Struct, frozen=True):
    """Names met in a pickle, in order of first mention, the first few of each."""

    classes: tuple[str, ...]
    """What it would import and call, besides what tensors and dicts need."""
    keys: tuple[str, ...]
    """Strings that may be keys of a state_dict."""
    damage: str = ""
    """Why it cannot be read to its end; empty if it can."""


def read_pickle(data: bytes) -> PickleContents:
    """List what unpickling ``data`` would build."""
    classes: dict[str, None] = {}
    keys: dict[str, None] = {}
    damage, full = "", False
    try:
        for kind, text in _names(data):
            if kind == "class":
                classes.setdefault(text)
            elif text == _AFTER_KEYS:
                full = True
            elif not full and _may_be_key(text):
                keys.setdefault(text)
                full = len(keys) == _KEPT
    except Exception as error:  # pickletools raises many kinds for bytes that are no pickle
        damage = str(error) or type(error).__name__
    foreign = [name for name in classes if not _is_weight(name)]
    return PickleContents(tuple(foreign[:_KEPT]), tuple(keys), damage)


def _names(data: bytes) -> Iterator[tuple[str, str]]:
    """Give ("class" or "text", name) pairs; follows the memo, where repeated names are kept."""
    memo: dict[int, str] = {}
    recent: list[str] = ["", ""]
    stream = io.BytesIO(data)
    if data.startswith(_LEGACY_MAGIC):
        for _ in range(_LEGACY_PREAMBLE):
            for _ in pickletools.genops(stream):
                pass
    for opcode, argument, _ in pickletools.genops(stream):
        name = opcode.name
        if name in _STRINGS:
            text = _as_text(argument)
            recent = [recent[1], text]
            yield "text", text
        elif name == "MEMOIZE":
            memo[len(memo)] = recent[1]
        elif name in _PUTS:
            memo[int(str(argument))] = recent[1]
        elif name in _GETS:
            recent = [recent[1], memo.get(int(str(argument)), "")]
        elif name in ("GLOBAL", "INST"):
            yield "class", str(argument).replace(" ", ".")
        elif name == "STACK_GLOBAL":
            yield "class", ".".join(recent)
        elif name in ("EXT1", "EXT2", "EXT4"):
            yield "class", f"extension code {argument}"


def _as_text(argument: Any) -> str:
    return argument.decode("latin-1") if isinstance(argument, bytes) else str(argument)


def _may_be_key(text: str) -> bool:
    device = text.partition(":")[0]
    return bool(text) and not text.isdigit() and device not in _STORAGE_WORDS


def _is_weight(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    plain = module in ("builtins", "__builtin__") and attribute in _PLAIN
    return plain or module in _WEIGHT_MODULES
