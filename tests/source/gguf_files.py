"""GGUF files written by hand, byte by byte, as the format's description has them."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

Tensor = tuple[str, Sequence[int], int, int]
"""Name, sizes from the innermost on, number of the type, offset."""
Q4_0, Q8_1, Q4_K = 2, 9, 12
LLAMA: Mapping[str, Any] = {
    "general.architecture": "llama",
    "general.name": "tiny",
    "llama.context_length": 64,
    "llama.block_count": 1,
    "llama.embedding_length": 32,
    "llama.feed_forward_length": 64,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.rope.dimension_count": 8,
    "llama.rope.freq_base": 10000.0,
    "llama.attention.layer_norm_rms_epsilon": 0.5,
    "tokenizer.ggml.tokens": ["a", "b", "é", "d"],
    "tokenizer.ggml.scores": [0.0, 1.0, 2.0, 3.0],
    "tokenizer.ggml.add_bos_token": True,
}
TENSORS: Sequence[Tensor] = (
    ("token_embd.weight", (32, 4), Q4_0, 0),
    ("output.weight", (32, 4), 0, 96),
)
DATA = bytes(96 + 512)


def text(value: str | bytes) -> bytes:
    """A text with its length before it."""
    content = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(content)) + content


def pair(key: str, value: Any) -> bytes:
    """A key with a value of the type that fits it."""
    match value:
        case list():
            kind, form = {str: (8, ""), int: (5, "i"), float: (6, "f")}[type(value[0])]
            items = [struct.pack(f"<{form}", item) if form else text(item) for item in value]
            head = struct.pack("<IIQ", 9, kind, len(value))
            return text(key) + head + b"".join(items)
        case bool():
            return text(key) + struct.pack("<I?", 7, value)
        case int():
            return text(key) + struct.pack("<II", 4, value)
        case float():
            return text(key) + struct.pack("<If", 6, value)
        case _:
            return text(key) + struct.pack("<I", 8) + text(value)


def listed(name: str, shape: Sequence[int], kind: int, offset: int) -> bytes:
    """A tensor in the list of tensors."""
    sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + sizes + struct.pack("<IQ", kind, offset)


def header(
    values: Mapping[str, Any] = LLAMA, tensors: Sequence[Tensor] = TENSORS, version: int = 3
) -> bytes:
    """A header, up to the last tensor of the list."""
    counts = struct.pack("<IQQ", version, len(tensors), len(values))
    pairs = b"".join(pair(key, value) for key, value in values.items())
    return b"GGUF" + counts + pairs + b"".join(listed(*tensor) for tensor in tensors)


def whole(
    values: Mapping[str, Any] = LLAMA, tensors: Sequence[Tensor] = TENSORS, data: bytes = DATA
) -> bytes:
    """A file with the data of its tensors."""
    head = header(values, tensors)
    return head + bytes(-len(head) % 32) + data
