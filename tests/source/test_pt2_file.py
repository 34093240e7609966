"""What is no exported program says what it is, and what to give instead."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from opcheck.errors import SourceError
from opcheck.source.pt2.file import read_program
from tests.lang.told import in_chinese
from tests.source.pt2_files import PROGRAM, archive_of

VERSION = {"major": 8, "minor": 20}


def program(**changes: Any) -> str:
    return json.dumps({"schema_version": VERSION, "torch_version": "2.13.0+cpu", **changes})


@pytest.mark.parametrize(
    ("members", "words", "hint"),
    [
        ({}, "a zip archive without a model in it", "torch.export.save"),
        ({"m/data.pkl": "", "m/version": ""}, "saved by torch.save", "factory"),
        ({"m/data.pkl": "", "m/constants.pkl": ""}, "a TorchScript archive", "model.pt"),
        ({"m/data/aotinductor/model/a.so": ""}, "an AOTInductor package", "before compiling"),
        ({"m/models/a.json": "", "m/models/b.json": ""}, "2 exported programs: a, b", "'model'"),
        ({PROGRAM: "{"}, "not JSON at line 1 column 2", "save the model again"),
        ({PROGRAM: b"{\"a\": \"\x80\"}"}, "not readable JSON", "save the model again"),
        ({PROGRAM: "[" * 100_000}, "nested too deeply to be a model", "save the model again"),
        ({PROGRAM: f'{{"a": {"9" * 5000}}}'}, "not readable JSON", "save the model again"),
        ({PROGRAM: "[]"}, "expected a JSON object", "save the model again"),
        ({PROGRAM: "{}"}, "has no schema_version", "save the model again"),
        ({PROGRAM: program(schema_version={"major": "8"})}, "expected numbers", "save the model"),
        (
            {PROGRAM: program(schema_version={"major": 9, "minor": 1}, torch_version="3.1.0")},
            "written by torch 3.1.0 in export schema 9.1; this opcheck reads 5 to 8",
            "update opcheck",
        ),
        (
            {PROGRAM: program(schema_version={"major": 3, "minor": 0}, torch_version="")},
            "written by an unnamed torch in export schema 3.0",
            "torch 2.3 or newer",
        ),
        (
            {"serialized_exported_program.json": program(schema_version=2, torch_version="")},
            "written by an unnamed torch in export schema 2.0",
            "torch 2.3 or newer",
        ),
    ],
)  # fmt: skip
def test_what_is_no_program_says_what_it_is(
    members: dict[str, str | bytes], words: str, hint: str, tmp_path: Path
) -> None:
    path = archive_of(tmp_path / "m.pt2", members)
    with pytest.raises(SourceError) as raised:
        read_program(path)
    assert raised.value.message.startswith(f"{path}: ")
    assert words in raised.value.message
    assert hint in raised.value.hint


def test_the_program_named_model_is_read_among_several(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "p/models/extra.json": "{}",
        "p/models/model.json": program(),
    }
    found = read_program(archive_of(tmp_path / "m.pt2", members))
    assert (found.member, found.schema, found.torch_version) == (
        "p/models/model.json",
        (8, 20),
        "2.13.0",
    )
    assert found.notes == (
        "the archive holds 2 exported programs (extra, model); 'model' was read",
    )


def test_the_digest_is_of_the_program_and_not_of_its_weights(tmp_path: Path) -> None:
    one = archive_of(tmp_path / "a.pt2", {PROGRAM: program(), "data/weights/0": b"1"})
    other = archive_of(tmp_path / "b.pt2", {PROGRAM: program(), "data/weights/0": b"2"})
    assert read_program(one).digest == read_program(other).digest
    assert read_program(one).digest == hashlib.sha256(program().encode()).hexdigest()[:16]


def test_a_file_that_names_no_torch_says_so(tmp_path: Path) -> None:
    found = read_program(archive_of(tmp_path / "m.pt2", {PROGRAM: program(torch_version="")}))
    assert found.torch_version == ""
    assert found.notes == ("the file does not say which torch wrote it",)
    assert in_chinese(found.notes) == ["文件没有说明由哪个 torch 写出"]


@pytest.mark.parametrize("version", ["[" * 4000, "../2.13", "2.13/../../x", "2.1\x1b[2J", "*"])
def test_a_version_that_is_none_is_not_looked_for(version: str, tmp_path: Path) -> None:
    path = archive_of(tmp_path / "m.pt2", {PROGRAM: program(torch_version=version)})
    assert read_program(path).torch_version == ""
