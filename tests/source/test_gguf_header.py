"""Headers of GGUF files: what is read of them, and every way in which one can be wrong."""

import struct
from pathlib import Path
from typing import Any

import pytest

from opcheck.errors import SourceError
from opcheck.source.gguf_header import Header, Tensor, Value, read_header
from opcheck.source.gguf_types import MADE_WHOLE, READ_IN_BLOCKS, TENSORS, names_of
from tests.source import gguf_files
from tests.source.gguf_files import Q4_K, header, listed, pair, text, whole

DIGEST_DIGITS = 16


def read(folder: Path, content: bytes) -> Header:
    path = folder / "m.gguf"
    path.write_bytes(content)
    return read_header(path)


def test_metadata_and_tensors_are_read_as_they_were_written(tmp_path: Path) -> None:
    values = {"general.architecture": "llama", "n": 7, "x": 0.5, "yes": True, "words": ["a", "é"],
              "numbers": [1.0, 2.0]}  # fmt: skip
    found = read(tmp_path, whole(values))
    assert found.version == 3
    assert dict(found.values) == {
        "general.architecture": Value(8, "llama"),
        "n": Value(4, 7),
        "x": Value(6, 0.5),
        "yes": Value(7, True),
        "words": Value(9, (b"a", "é".encode()), 8),
        "numbers": Value(9, (1.0, 2.0), 6),
    }
    assert found.tensors == (
        Tensor("token_embd.weight", (32, 4), 2, 0),
        Tensor("output.weight", (32, 4), 0, 96),
    )
    assert (found.text("general.architecture"), found.text("n"), found.number("n")) == (
        "llama",
        "",
        7,
    )
    assert found.missing == 0


def test_the_digest_is_of_the_header_alone(tmp_path: Path) -> None:
    first = read(tmp_path, whole())
    assert len(first.digest) == DIGEST_DIGITS
    assert read(tmp_path, whole(data=b"\x01" * 608)).digest == first.digest
    assert read(tmp_path, whole({**gguf_files.LLAMA, "more": 1})).digest != first.digest


def test_a_header_without_its_tensors_is_enough(tmp_path: Path) -> None:
    head = header()
    assert read(tmp_path, head).missing == len(whole()) - len(head)


@pytest.mark.parametrize("align", [8, 64])
def test_tensors_start_where_the_alignment_says(tmp_path: Path, align: int) -> None:
    values = {**gguf_files.LLAMA, "general.alignment": align}
    head = header(values)
    assert read(tmp_path, head).missing == -len(head) % align + len(gguf_files.DATA)


ONE = struct.pack("<IQQ", 3, 0, 1)
NO_TENSOR = b"GGUF" + ONE
TENSOR = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
WRONG: tuple[tuple[str, bytes, str], ...] = (
    ("magic", b"GGML" + bytes(40), "byte 4: it does not start as a GGUF file"),
    ("end", b"GGUF\x03\0\0", "byte 4: 4 more bytes are to follow, and the file ends at byte 7"),
    ("version", header(version=1), "byte 8: version 1 of GGUF, want 2 or 3"),
    ("endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
     "byte 8: it is a big-endian file, and transformers reads little-endian ones"),
    ("tensors", b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0),
     "byte 16: 9223372036854775808 tensors, want 131072 at most"),
    ("tensors_that_do_not_fit", b"GGUF" + struct.pack("<IQQ", 3, 1000, 0),
     "byte 16: 1000 tensors do not fit a file of 24 bytes"),
    ("keys", b"GGUF" + struct.pack("<IQQ", 3, 0, 2**32),
     "byte 24: 4294967296 metadata keys, want 65536 at most"),
    ("key", NO_TENSOR + struct.pack("<Q", 2**40) + bytes(20),
     "byte 32: 1099511627776 bytes of a key, want 65535 at most"),
    ("key_that_does_not_fit", NO_TENSOR + struct.pack("<Q", 60) + bytes(20),
     "byte 32: 60 bytes of a key do not fit a file of 52 bytes"),
    ("key_in_no_encoding", NO_TENSOR + text(b"\xff\xfe") + bytes(20),
     "byte 34: a text that is not UTF-8"),
    ("value", NO_TENSOR + text("k") + struct.pack("<I", 13) + bytes(20),
     "byte 37: a value of type 13, want 0 to 12"),
    ("text", NO_TENSOR + text("k") + struct.pack("<IQ", 8, 2**62),
     "byte 45: 4611686018427387904 bytes of a text, want 268435456 at most"),
    ("text_that_does_not_fit", NO_TENSOR + text("k") + struct.pack("<IQ", 8, 9),
     "byte 45: 9 bytes of a text do not fit a file of 45 bytes"),
    ("array", NO_TENSOR + text("k") + struct.pack("<IIQ", 9, 8, 2**22 + 1),
     "byte 49: 4194305 items of arrays, want 4194304 at most"),
    ("array_that_does_not_fit", NO_TENSOR + text("k") + struct.pack("<IIQ", 9, 12, 4) + bytes(31),
     "byte 49: 4 items of arrays do not fit a file of 80 bytes"),
    ("array_of_arrays", NO_TENSOR + text("k") + struct.pack("<IIQ", 9, 9, 1) + bytes(20),
     "byte 41: k is an array of arrays, which transformers does not read"),
    ("key_twice", b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + pair("k", 1) * 2,
     "byte 58: 'k' is there twice"),
    ("tensor_twice", b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + listed("w", (1,), 0, 0) * 2,
     "byte 90: 'w' is there twice"),
    ("name", TENSOR + struct.pack("<Q", 1025) + bytes(2000),
     "byte 32: 1025 bytes of a name, want 1024 at most"),
    ("dimensions", TENSOR + listed("w", (1,) * 5, 0, 0),
     "byte 37: w has 5 dimensions, want 1 to 4"),
    ("no_dimension", TENSOR + listed("w", (), 0, 0) + bytes(9),
     "byte 37: w has 0 dimensions, want 1 to 4"),
    ("sizes", TENSOR + listed("w", (2**32, 2**32), 0, 0),
     "byte 65: w has the sizes 4294967296, 4294967296, which no tensor has"),
    ("no_size", TENSOR + listed("w", (0, 4), 0, 0),
     "byte 65: w has the sizes 0, 4, which no tensor has"),
    ("offset", TENSOR + listed("w", (4,), 0, 2**63),
     "byte 57: w starts at byte 9223372036854775808, which no file has"),
    ("rows", TENSOR + listed("w", (128, 4), Q4_K, 0),
     "byte 65: w has rows of 128 numbers, and Q4_K packs them by 256"),
    ("alignment", NO_TENSOR + pair("general.alignment", 0),
     "byte 57: general.alignment is 0, want a power of two"),
    ("alignment_of_no_power", NO_TENSOR + pair("general.alignment", 24),
     "byte 57: general.alignment is 24, want a power of two"),
    ("alignment_in_words", NO_TENSOR + pair("general.alignment", "32"),
     "byte 63: general.alignment is '32', want a power of two"),
)  # fmt: skip


@pytest.mark.parametrize(("content", "said"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(SourceError) as raised:
        read(tmp_path, content)
    assert raised.value.message == f"{tmp_path / 'm.gguf'}: {said}"


def test_every_shorter_file_is_refused(tmp_path: Path) -> None:
    head = header()
    for size in range(len(head)):
        with pytest.raises(SourceError):
            read(tmp_path, head[:size])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as raised:
        read_header(tmp_path / "m.gguf")
    assert raised.value.message == (
        f"{tmp_path / 'm.gguf'}: cannot be read (No such file or directory)"
    )


def test_types_are_named_and_those_without_a_name_by_number() -> None:
    assert names_of([12, 0, 99, 12]) == ("F32", "Q4_K", "type 99")
    known = {kind.name for kind in TENSORS.values()}
    assert known - MADE_WHOLE == {"Q8_1", "Q8_K", "Q1_0", "I8", "I16", "I32", "I64", "F64"}
    assert READ_IN_BLOCKS < MADE_WHOLE


@pytest.mark.library
def test_gguf_itself_reads_the_same(tmp_path: Path) -> None:
    gguf: Any = pytest.importorskip("gguf")
    path = tmp_path / "m.gguf"
    path.write_bytes(whole())
    theirs, ours = gguf.GGUFReader(path), read_header(path)
    fields = {key: field.contents() for key, field in theirs.fields.items() if key[0] != "G"}
    assert {key: _decoded(value) for key, value in ours.values.items()} == fields
    assert [(t.name, t.shape, t.kind) for t in ours.tensors] == [
        (t.name, tuple(t.shape.tolist()), int(t.tensor_type)) for t in theirs.tensors
    ]
    assert {int(kind): tuple(size) for kind, size in gguf.GGML_QUANT_SIZES.items()} == {
        number: (kind.block, kind.size) for number, kind in TENSORS.items()
    }
    traits = {kind.name for kind in gguf.quants._type_traits}
    assert traits | {"F32", "F16"} == MADE_WHOLE


def _decoded(value: Value) -> Any:
    if value.kind != 9:
        return value.content
    return [item.decode() if isinstance(item, bytes) else item for item in value.content]
