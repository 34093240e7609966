"""GGUF files: lengths and counts that a reader must not believe, and metadata for a library."""

import struct
from typing import Any

from tests.hostile.case import Corpus, Family, Made, write
from tests.hostile.place import Place
from tests.source.gguf_files import LLAMA, TENSORS, header, listed, pair, text

GGUF = Corpus("GGUF", "model.gguf", Family.MODEL)
_COUNTS = struct.Struct("<IQQ")


def _counted(tensors: int, keys: int, rest: bytes) -> bytes:
    return b"GGUF" + _COUNTS.pack(3, tensors, keys) + rest


def _with(*pairs: bytes) -> bytes:
    """A sound header with more in its metadata, before the tensors."""
    sound = header()
    start = len(b"GGUF") + _COUNTS.size
    body = b"".join(pairs)
    counts = _COUNTS.pack(3, len(TENSORS), len(LLAMA) + len(pairs))
    return b"GGUF" + counts + body + sound[start:]


def _named(key: str, kind: int, rest: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + rest


_HEADERS: tuple[tuple[str, str, bytes], ...] = (
    ("tensors_without_end", "2**63 tensors, for each of which a list has room.",
     _counted(2**63, 0, b"")),
    ("keys_without_end", "The same with keys.", _counted(0, 2**64 - 1, bytes(64))),
    ("as_many_keys_as_may_be", "65,536 keys in a file with none.", _counted(0, 1 << 16, b"")),
    ("a_text_without_end", "A text that is longer than all memory.",
     _with(_named("evil", 8, struct.pack("<Q", 2**62)))),
    ("a_text_one_too_long", "A last text that ends one byte after the file.",
     _counted(0, 1, _named("evil", 8, struct.pack("<Q", 4) + b"abc"))),
    ("an_array_without_end", "An array of 2**61 numbers, whose bytes overflow.",
     _with(_named("evil", 9, struct.pack("<IQ", 10, 2**61)))),
    ("an_array_of_empty_texts", "Four million texts of no bytes: a list of as many objects.",
     _with(_named("evil", 9, struct.pack("<IQ", 8, 1 << 22) + bytes(8 << 22)))),
    ("arrays_in_arrays", "An array of arrays, five hundred deep, that a reader descends into.",
     _with(_named("evil", 9, struct.pack("<IQ", 9, 1) * 500 + struct.pack("<IQ", 0, 0)))),
    ("a_type_of_nobody", "A value of type 2**32 - 1.", _with(_named("evil", 2**32 - 1, b""))),
    ("dimensions_without_end", "A tensor of 2**32 - 1 dimensions.",
     _counted(1, 0, text("w") + struct.pack("<I", 2**32 - 1) + bytes(64))),
    ("sizes_that_overflow", "A tensor whose count of numbers is 0 in 64 bits.",
     header(LLAMA, [("output.weight", (2**32, 2**32), 0, 0)])),
    ("an_offset_that_overflows", "A tensor that starts at the end of all files.",
     header(LLAMA, [("output.weight", (32, 4), 0, 2**64 - 1)])),
    ("a_tensor_of_a_type_of_nobody", "Weights of a type without a name.",
     header(LLAMA, [("output.weight", (32, 4), 2**32 - 1, 0)])),
    ("a_name_with_an_escape", "A tensor's name with signs that a terminal obeys.",
     _counted(2, 0, listed("\x1b]0;evil\x07", (1,), 0, 0) * 2)),
    ("an_alignment_of_nothing", "A division by zero.", _with(pair("general.alignment", 0))),
    ("the_same_key_twice", "Of two architectures, one reader takes the first, one the last.",
     _with(pair("general.architecture", "bloom"))),
    ("texts_in_no_encoding", "A vocabulary that is not UTF-8.",
     header({**LLAMA, "tokenizer.ggml.tokens": [b"\xff".decode("latin-1"), "a"]})
     .replace("ÿ".encode(), b"\xff\xfe")),
)  # fmt: skip


def _content(place: Place, content: object) -> object:
    return content


GGUF.each(_HEADERS, _content)

_METADATA: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("an_architecture_that_leads_out", "The architecture is the name of a module.",
     {"general.architecture": "../../evil"}),
    ("an_architecture_of_an_expression", "The architecture is code.",
     {"general.architecture": "__import__('os').system('false')"}),
    ("an_architecture_that_is_everywhere", "One letter, for which another name is put everywhere.",
     {"general.architecture": "t5"}),
    ("layers_without_end", "Four billion layers.", {"llama.block_count": 2**32 - 1}),
    ("sizes_without_bounds", "Layers of 2**32 - 1.",
     {"llama.embedding_length": 2**32 - 1, "llama.feed_forward_length": 2**32 - 1}),
    ("heads_of_nothing", "A division by zero.",
     {"llama.attention.head_count": 0, "llama.attention.head_count_kv": 0}),
    ("words_for_numbers", "A count that is a text.", {"llama.block_count": "1"}),
    ("a_name_that_is_a_path", "The model's name is where weights are looked for.",
     {"general.name": "../home/.ssh/id_rsa"}),
)  # fmt: skip


def _of_llama(place: Place, values: Any) -> bytes:
    return header({**LLAMA, **values})


GGUF.each(_METADATA, _of_llama, runnable=True)


@GGUF.case(runnable=True)
def a_truth_of_two(place: Place) -> bytes:
    """A truth value that is neither true nor false."""
    return _with(_named("evil", 7, b"\x02"))


@GGUF.case(near=False)
def only_the_magic(place: Place) -> bytes:
    """Four bytes."""
    return b"GGUF"


@GGUF.case(near=False)
def noise(place: Place) -> bytes:
    """Counts and lengths of ones."""
    return b"GGUF" + b"\xff" * 4096


@GGUF.case(near=False)
def a_larger_file_than_there_is_room_for(place: Place) -> Made:
    """A sparse file of half a terabyte, whose first text says that it is as long."""
    path = write(place.project / "model.gguf", _counted(0, 1, struct.pack("<Q", 2**39)))
    with path.open("r+b") as stream:
        stream.truncate(2**39 + 64)
    return Made("model.gguf")


@GGUF.case()
def a_folder_of_links(place: Place) -> Made:
    """A folder whose GGUF files are links to a device and to themselves."""
    folder = place.project / "net"
    write(folder / "readme.txt", "x")
    (folder / "a.gguf").symlink_to("/dev/zero")
    (folder / "b.gguf").symlink_to("b.gguf")
    return Made("hf:net")
